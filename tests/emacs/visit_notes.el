;;; visit_notes.el --- What notes do in an Emacs that allows everything -*- lexical-binding: t -*-

;; Run in a batch Emacs by test_written_notes.py.  Each note of VISIT_FOLDER is
;; opened, coloured, its code executed, as in an export too, and an agenda is built over all,
;; with every question answered beforehand by yes.  What is live in a note and
;; has no place there goes to VISIT_OUT, as JSON.

;;; Code:

(require 'json)
(require 'org)
(require 'org-agenda)
(require 'ob-shell)
(require 'ol-man)
(require 'org-id)
(require 'ox)

(defvar visit-folder (file-name-as-directory (expand-file-name (getenv "VISIT_FOLDER"))))
(defvar visit-found nil "Pairs of file and what is live in it.")

(defun visit-note-found (file what)
  "Keep that WHAT is live in FILE."
  (push (list (cons 'file (file-name-nondirectory file)) (cons 'what what)) visit-found))

(defun visit-allow-everything ()
  "Ask nothing, so that whatever could run does."
  (setq enable-local-variables :all
        enable-local-eval t
        org-confirm-babel-evaluate nil
        org-link-elisp-confirm-function nil
        org-link-shell-confirm-function nil
        org-export-with-broken-links t
        org-resource-download-policy nil
        org-id-track-globally nil
        make-backup-files nil
        auto-save-default nil
        create-lockfiles nil
        vc-handled-backends nil)
  (org-babel-do-load-languages 'org-babel-load-languages '((emacs-lisp . t) (shell . t))))

(defun visit-is-foreign (element)
  "Say what ELEMENT is if a written note may not hold it, else nil."
  (let ((type (org-element-type element)))
    (pcase type
      ((or 'headline 'inlinetask 'drawer 'clock 'planning 'diary-sexp 'dynamic-block 'babel-call
           'inline-babel-call 'inline-src-block 'macro 'export-snippet 'export-block 'special-block
           'comment-block 'latex-environment 'radio-target)
       (symbol-name type))
      ('property-drawer
       (unless (= (org-element-property :begin element) 1) "second property drawer"))
      ('keyword
       (unless (member (org-element-property :key element) '("TITLE" "FILETAGS" "CAPTION" "NAME" "RESULTS"))
         (concat "keyword " (org-element-property :key element))))
      ('src-block
       (unless (equal (org-element-property :parameters element) ":eval never")
         (concat "source block " (org-element-property :parameters element))))
      ('timestamp
       (unless (memq (org-element-property :type element) '(inactive inactive-range))
         (concat "timestamp " (org-element-property :raw-value element))))
      ('table-cell
       (let ((begin (org-element-property :contents-begin element)))
         (when (and begin (string-match-p "\\`[ \t]*:?=" (buffer-substring begin (org-element-property :contents-end element))))
           "formula")))
      ('latex-fragment
       (let ((case-fold-search nil)
             (value (org-element-property :value element)))
         (when (string-match-p "\\\\\\(?:input\\|include\\|openout\\|write\\|immediate\\)\\(?:[^a-zA-Z]\\|\\'\\)\\|\\^\\^" value)
           (concat "TeX " value))))
      ('link
       (let ((kind (org-element-property :type element))
             (case-fold-search nil))
         ;; a type in capitals has no function
         (unless (or (member kind '("id" "http" "https" "doi"))
                     (not (string-match-p "[a-z]" kind))
                     (not (string= kind (downcase kind)))
                     (and (equal kind "file")
                          (string-match-p "\\`[^/~].*\\.org\\'" (org-element-property :path element))))
           (format "link %s:%s" kind (org-element-property :path element))))))))

(defun visit-look (file)
  "Keep what org's own parser finds live in the current buffer, which visits FILE."
  (unless (eq major-mode 'org-mode)
    (visit-note-found file (format "mode %s" major-mode)))
  (unless (memq buffer-file-coding-system '(utf-8-unix undecided-unix prefer-utf-8-unix))
    (visit-note-found file (format "coding %s" buffer-file-coding-system)))
  (org-element-map (org-element-parse-buffer)
      (append org-element-all-elements org-element-all-objects)
    (lambda (element)
      (when-let ((what (visit-is-foreign element))) (visit-note-found file what)))
    nil nil nil t))

(defmacro visit-try (&rest body)
  "Do BODY, whatever error it ends in: what counts is what it leaves behind."
  `(condition-case nil (progn ,@body) (error nil)))

(defun visit-export ()
  "Do all that an export evaluates, and spare the rest of it."
  (org-export-expand-include-keyword)
  (org-macro-initialize-templates)
  (org-macro-replace-all org-macro-templates)
  (org-babel-exp-process-buffer))

(defun visit-note (file)
  "Do to FILE all that a human's Emacs might."
  (with-current-buffer (find-file-noselect file)
    (when (getenv "VISIT_LOOK") (visit-look file))
    (visit-try (font-lock-ensure))
    (visit-try (org-babel-execute-buffer))
    (visit-try (visit-export))
    (set-buffer-modified-p nil)
    (kill-buffer)))

(defun visit-main ()
  "Visit all notes and write what was found."
  (visit-allow-everything)
  (let ((files (directory-files visit-folder t "\\.org\\'"))
        (inhibit-message t))
    (mapc #'visit-note files)
    (setq org-agenda-files files)
    (condition-case problem (org-agenda-list nil "2026-01-01" 1)
      (error (visit-note-found "agenda" (format "%S" problem)))))
  (let ((coding-system-for-write 'utf-8-unix))
    (write-region (json-encode (vconcat (nreverse visit-found))) nil (getenv "VISIT_OUT") nil 'silent)))

(visit-main)

;;; visit_notes.el ends here
