//! Transcripts as people and tools write them, and as nobody should.

use proptest::prelude::*;

use super::*;

fn text(bytes: &[u8]) -> Transcript {
    Transcript::parse(bytes, TranscriptForm::Text).unwrap()
}

fn vtt(bytes: &[u8]) -> Transcript {
    Transcript::parse(bytes, TranscriptForm::WebVtt).unwrap()
}

/// Each line as `timecode|speaker|text`.
fn shown(transcript: &Transcript) -> Vec<String> {
    let show = |line: &Line| {
        let code = line.timecode.map(|code| code.to_string()).unwrap_or_default();
        format!("{code}|{}|{}", line.speaker.as_deref().unwrap_or_default(), line.text)
    };
    transcript.lines.iter().map(show).collect()
}

#[test]
fn the_ending_tells_the_form() {
    assert_eq!(TranscriptForm::of_extension("TXT"), Some(TranscriptForm::Text));
    assert_eq!(TranscriptForm::of_extension("vtt"), Some(TranscriptForm::WebVtt));
    assert_eq!(TranscriptForm::of_extension("srt"), None);
}

#[test]
fn plain_text_has_timecodes_and_speakers_where_it_says_so() {
    let transcript = text(
        b"\xEF\xBB\xBF[00:01:02] Alice Smith: the pool is full\r\n\r\n(1:05) Bob: yes\r\n\
          1:02:03.500 - Carol: rolling back\nno one in particular\n\
          see http://x.example: it says so, and then: nothing\n10:30 we saw it",
    );
    assert_eq!(
        shown(&transcript),
        [
            "00:01:02|Alice Smith|the pool is full",
            "00:01:05|Bob|yes",
            "01:02:03|Carol|rolling back",
            "||no one in particular",
            "||see http://x.example: it says so, and then: nothing",
            "00:10:30||we saw it",
        ]
    );
    let numbers: Vec<usize> = transcript.lines.iter().map(|line| line.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
    assert_eq!((transcript.broken_cues, transcript.is_cut), (0, false));
}

#[test]
fn cues_have_times_and_voices() {
    let transcript = vtt(
        b"WEBVTT - the call\r\nKind: captions\r\n\r\nNOTE nothing to see\r\n\r\nSTYLE\r\n::cue { color: red }\r\n\r\n\
          1\r\n00:00:01.000 --> 00:00:04.000 align:start\r\n<v Alice>The <i>pool</i> is\r\nfull &amp; stuck</v>\r\n\r\n\
          01:02.500 --> 01:03.000\r\n<v.loud Bob Jones>5 &lt; 6</v> <v Alice>a < b &amp;lt;</v>\r\n\r\n\
          00:02:00.000 --> 00:02:01.000\r\n<00:02:00.500><c>plain</c>",
    );
    assert_eq!(
        shown(&transcript),
        [
            "00:00:01|Alice|The pool is full & stuck",
            "00:01:02|Bob Jones|5 < 6",
            "00:01:02|Alice|a < b &lt;",
            "00:02:00||plain",
        ]
    );
    assert_eq!(transcript.broken_cues, 0);
}

#[test]
fn broken_cues_are_kept_as_text_and_counted() {
    let transcript =
        vtt(b"WEBVTT\n\n00:00:xx --> 00:00:04.000\nno time\n\n00:00:05.000 --> later\nno end\n\n\
          just words\n\nWEBVTTish words\n\n00:00:09.000 --> 00:00:10.000\nfine <v unclosed");
    assert_eq!(
        shown(&transcript),
        [
            "||no time",
            "||no end",
            "||just words",
            "||WEBVTTish words",
            "00:00:09||fine <v unclosed"
        ]
    );
    assert_eq!(transcript.broken_cues, 4);
}

#[test]
fn whatever_bytes_come_are_read_as_text() {
    let transcript = text(b"a\0b \xFF\xFE c\x1B[31m\n\t\x07\n");
    assert_eq!(shown(&transcript), ["||a\u{FFFD}b \u{FFFD}\u{FFFD} c [31m"]);
}

#[test]
fn what_windows_saves_as_unicode_is_read() {
    for bytes in [
        [
            &b"\xFF\xFE"[..],
            &"Ада: лежит 🔥\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>(),
        ]
        .concat(),
        [
            &b"\xFE\xFF"[..],
            &"Ада: лежит 🔥\n".encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<_>>(),
        ]
        .concat(),
    ] {
        assert_eq!(shown(&text(&bytes)), ["|Ада|лежит 🔥"]);
    }
}

#[test]
fn what_is_no_text_is_refused() {
    let archive = b"PK\x03\x04\x14\0\0\0\x08\0\x9c\x8e\x6fW\xd0\xc3\x4a\x0d\x0f\0\0\0\x0d\0\0\0\x08\0\0\0call.txt\xf3\xc9\xcc\x4b\x57";
    let other_encoding = b"\xc0\xe4\xe0: \xe2\xf1\xb8 \xeb\xe5\xe6\xe8\xf2";
    let picture: Vec<u8> =
        (0..4_096_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for bytes in [&archive[..], other_encoding, &picture, b"\xFF\xFE\x00\xD8\x00"] {
        let error = Transcript::parse(bytes, TranscriptForm::Text).unwrap_err();
        assert_eq!(error.code(), "original_not_text", "{bytes:?}");
    }
}

#[test]
fn nothing_but_white_space_is_no_transcript() {
    for bytes in [&b""[..], b" \r\n\t\n", b"\xEF\xBB\xBF\n", "\u{A0}\u{3000}".as_bytes()] {
        let error = Transcript::parse(bytes, TranscriptForm::Text).unwrap_err();
        assert_eq!(error.code(), "empty_original_transcript", "{bytes:?}");
    }
    for bytes in [&b"WEBVTT"[..], b"WEBVTT\n\n00:01.000 --> 00:02.000\n<v Alice></v>\n"] {
        assert!(Transcript::parse(bytes, TranscriptForm::WebVtt).is_err(), "{bytes:?}");
    }
}

#[test]
fn a_long_line_becomes_several_and_too_many_are_cut() {
    let long = "ä".repeat(2 * MAX_LINE + 1);
    let transcript = text(format!("00:01 A: {long}").as_bytes());
    assert_eq!(transcript.lines.len(), 3);
    assert!(transcript.lines.iter().all(|line| line.speaker.as_deref() == Some("A")));
    let many = "x\n".repeat(MAX_LINES + 1);
    let transcript = text(many.as_bytes());
    assert_eq!((transcript.lines.len(), transcript.is_cut), (MAX_LINES, true));
}

#[test]
fn timecodes_are_read_in_the_usual_ways_only() {
    for (given, seconds) in [
        ("0:00", Some(0)),
        ("1:02", Some(62)),
        ("59:59.999", Some(3_599)),
        ("100:00:00", Some(360_000)),
        ("01:02:03,5", Some(3_723)),
        ("60:00", None),
        ("1:60", None),
        ("1:2", None),
        ("1", None),
        ("1:02:03:04", None),
        ("-1:02", None),
        ("1:02.", None),
        ("9999999999:00:00", None),
    ] {
        assert_eq!(Timecode::parse(given).map(Timecode::as_seconds), seconds, "{given}");
    }
}

#[test]
fn what_was_said_is_not_in_a_debug_print() {
    assert!(!format!("{:?}", text(b"Alice: hunter2")).contains("hunter2"));
}

proptest! {
    #[test]
    fn any_bytes_are_bounded_clean_lines(bytes in prop::collection::vec(prop_oneof![4 => 32_u8..127, 1 => any::<u8>()], 0..600), is_vtt: bool) {
        let form = if is_vtt { TranscriptForm::WebVtt } else { TranscriptForm::Text };
        if let Ok(transcript) = Transcript::parse(&bytes, form) {
            prop_assert!(!transcript.lines.is_empty());
            for (at, line) in transcript.lines.iter().enumerate() {
                prop_assert_eq!(line.number, at + 1);
                prop_assert!((1..=MAX_LINE).contains(&line.text.chars().count()));
                prop_assert!(!line.text.chars().any(char::is_control));
            }
        }
    }

    #[test]
    fn any_marks_are_read_as_cues_without_harm(text in "(WEBVTT\n\n)?([<>&v /:.0-9\n-]|--> |<v A>|&amp;|00:01\\.000){0,60}") {
        let _ = Transcript::parse(text.as_bytes(), TranscriptForm::WebVtt);
    }
}
