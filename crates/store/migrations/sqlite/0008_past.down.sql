DROP TABLE past_keyframe_parts;
DROP TABLE past_keyframes;
DROP INDEX changes_by_service_status;
