ALTER TABLE files DROP COLUMN report_title;
