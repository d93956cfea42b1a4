;;; org_roam_dump.el --- What real org-roam indexes, as JSON -*- lexical-binding: t -*-

;; Run in a batch Emacs by conftest.py.  The environment names the folder
;; (DUMP_FOLDER), the result (DUMP_OUT) and org-roam's database (DUMP_DB); with
;; DUMP_PLAIN the settings of a plain Emacs stay as they are, and with DUMP_NEWER links
;; belong to the nodes, headings begin and titles are joined as in org-roam 2.3.

;;; Code:

(require 'package)
(require 'json)
(require 'subr-x)
(setq load-prefer-newer t)
(package-initialize)
(unless (require 'org-roam nil t)
  (kill-emacs 4))

(defvar dump-folder (file-name-as-directory (expand-file-name (getenv "DUMP_FOLDER"))))
(defvar dump-warnings nil "Every message that org-roam logged, the last first.")
(defvar dump-listed nil "Every file that org-roam found.")

(defun dump-text (value)
  "VALUE without what JSON cannot hold, paths relative to the folder."
  (if (not (stringp value)) value
    (let ((text (string-replace dump-folder "" (string-to-multibyte (substring-no-properties value)))))
      (concat (mapcar (lambda (c) (if (or (> c #x10ffff) (<= #xd800 c #xdfff)) #xfffd c)) text)))))

(defun dump-value (value)
  "VALUE of a column as `json-serialize' wants it."
  (cond ((null value) :null)
        ((stringp value) (dump-text value))
        ((symbolp value) (symbol-name value))
        ((consp value) (vconcat (mapcar #'dump-value value)))
        (t value)))

(defun dump-rows (columns rows)
  "ROWS as a vector of objects with COLUMNS."
  (vconcat (mapcar (lambda (row)
                     (seq-mapn (lambda (column value) (cons column (dump-value value))) columns row))
                   rows)))

(defun dump-drawer (properties)
  "PROPERTIES of a node as a vector of pairs."
  (vconcat (mapcar (lambda (pair) (vector (dump-text (car pair)) (or (dump-text (cdr pair)) "")))
                   properties)))

(defun dump-node (row)
  "ROW of the table of nodes as an object."
  (append (seq-mapn (lambda (column value) (cons column (dump-value value)))
                    '(id file level pos todo priority scheduled deadline title) row)
          (list (cons 'olp (vconcat (mapcar #'dump-text (nth 9 row))))
                (cons 'properties (dump-drawer (nth 10 row))))))

(defun dump-nodes ()
  "All rows of org-roam's table of nodes."
  (vconcat (mapcar #'dump-node
                   (org-roam-db-query
                    (concat "SELECT id, file, level, pos, todo, priority, scheduled, deadline, title, olp,"
                            " properties FROM nodes ORDER BY file, pos")))))

(defun dump-table (sql &rest columns)
  "The rows that SQL selects, with COLUMNS."
  (dump-rows columns (org-roam-db-query sql)))

(defun dump-not-indexed ()
  "The files that org-roam found and did not take."
  (let ((taken (mapcar (lambda (row) (string-to-multibyte (car row))) (org-roam-db-query "SELECT file FROM files"))))
    (vconcat (mapcar #'dump-text
                     (seq-remove (lambda (file) (member (string-to-multibyte file) taken)) dump-listed)))))

(defun dump-all ()
  "Everything that the tests compare."
  (list (cons 'nodes (dump-nodes))
        (cons 'tags (dump-table "SELECT node_id, tag FROM tags ORDER BY rowid" 'node_id 'tag))
        (cons 'aliases (dump-table "SELECT node_id, alias FROM aliases ORDER BY rowid" 'node_id 'alias))
        (cons 'refs (dump-table "SELECT node_id, ref, type FROM refs ORDER BY rowid" 'node_id 'ref 'type))
        (cons 'links (dump-table "SELECT source, dest, type, pos FROM links ORDER BY rowid"
                                 'source 'dest 'type 'pos))
        (cons 'citations (dump-table "SELECT node_id, cite_key, pos FROM citations ORDER BY rowid"
                                     'node_id 'key 'pos))
        (cons 'files (dump-table "SELECT file, title FROM files ORDER BY file" 'file 'title))
        (cons 'files_not_indexed (dump-not-indexed))
        (cons 'warnings (vconcat (mapcar #'dump-text (reverse dump-warnings))))))

(defun dump-tame-emacs ()
  "Ask nothing, fetch nothing, run nothing that a file names."
  (setq enable-local-variables :safe
        enable-local-eval nil
        org-resource-download-policy nil)
  (advice-add 'org-file-contents :around
              (lambda (fetch file &rest rest) (unless (org-url-p file) (apply fetch file rest)))))

(defun dump-map-links (fns)
  "Run FNS over all links, as org-roam does; those of drawers and keywords where they stand.
org-roam 2.2 files them at the beginning of the buffer."
  (org-with-point-at 1
    (while (re-search-forward org-link-any-re nil :no-error)
      (backward-char)
      (let* ((element (org-element-context))
             (type (org-element-type element))
             (link (and (eq type 'link) element)))
        (when (and (memq type org-roam-db-extra-links-elements)
                   (not (member-ignore-case (org-element-property :key element)
                                            (cdr (assoc type org-roam-db-extra-links-exclude-keys)))))
          (when-let ((bounds (org-in-regexp org-link-any-re)))
            (setq link (dump-parsed-link (buffer-substring-no-properties (car bounds) (cdr bounds))))
            (org-element-put-property link :begin (car bounds))))
        (when link
          (dolist (fn fns) (funcall fn link)))))))

(defun dump-parsed-link (text)
  "The link that is all of TEXT."
  (with-temp-buffer
    (delay-mode-hooks (org-mode))
    (insert text)
    (org-element-context)))

(defun dump-file-title ()
  "The title of the file; of several lines all, as org-roam 2.3 has it."
  (org-link-display-format
   (if-let ((titles (cdr (assoc "TITLE" (org-collect-keywords '("title"))))))
       (string-join titles " ")
     (file-name-sans-extension (file-relative-name (buffer-file-name (buffer-base-buffer)) org-roam-directory)))))

(defun dump-main ()
  "Index the folder and write what org-roam says of it."
  (setq org-roam-directory dump-folder
        org-roam-db-location (getenv "DUMP_DB")
        org-roam-verbose nil
        org-id-track-globally nil
        org-id-locations-file (concat (getenv "DUMP_DB") ".ids")
        make-backup-files nil
        auto-save-default nil
        create-lockfiles nil
        vc-handled-backends nil)
  (unless (getenv "DUMP_PLAIN")
    (dump-tame-emacs))
  (when (getenv "DUMP_NEWER")
    (advice-add 'org-roam-db-map-links :override #'dump-map-links)
    (advice-add 'org-roam-db--file-title :override #'dump-file-title)
    ;; org-roam 2.2 finds a file's first heading behind its stars
    (advice-add 'org-roam-db-insert-node-data :before #'beginning-of-line))
  (advice-add 'display-warning :override
              (lambda (_type message &rest _) (push message dump-warnings)))
  ;; org-roam works through its list from the end: so the first path wins an id that two files have.
  (advice-add 'org-roam-list-files :filter-return
              (lambda (files) (setq dump-listed (sort (copy-sequence files) #'string>))))
  (let ((inhibit-message t))
    (org-roam-db-sync 'force))
  (let ((coding-system-for-write 'utf-8-unix)
        (all (json-serialize (dump-all))))
    (write-region (decode-coding-string all 'utf-8) nil (getenv "DUMP_OUT") nil 'silent)))

(dump-main)

;;; org_roam_dump.el ends here
