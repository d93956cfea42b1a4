;;; export_notes.el --- What org exports of notes, as HTML in JSON -*- lexical-binding: t -*-

;; Run in a batch Emacs by test_markdown_exports.py: each note of EXPORT_FOLDER is exported by org's own
;; exporter, and all of it goes to EXPORT_OUT.

;;; Code:

(require 'json)
(require 'org)
(require 'ox-html)

(defun export-note (file)
  "The name of FILE and the HTML of its body."
  (with-temp-buffer
    (insert-file-contents file)
    (delay-mode-hooks (org-mode))
    (cons (intern (file-name-base file)) (org-export-as 'html nil nil t))))

(setq org-export-with-broken-links t
      ;; dashes and plain scripts are the exporter's own typography, and not markup
      org-export-with-special-strings nil
      org-export-with-sub-superscripts '{}
      org-export-with-toc nil
      org-html-prefer-user-labels t)

(let ((inhibit-message t)
      (coding-system-for-read 'utf-8-unix)
      (coding-system-for-write 'utf-8-unix))
  (write-region (json-encode (mapcar #'export-note (directory-files (getenv "EXPORT_FOLDER") t "\\.org\\'")))
                nil (getenv "EXPORT_OUT") nil 'silent))

;;; export_notes.el ends here
