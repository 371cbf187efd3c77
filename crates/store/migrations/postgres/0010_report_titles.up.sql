-- What reports are called, so that a list of them can say it without reading each.
ALTER TABLE files ADD COLUMN report_title TEXT COLLATE "C";
