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
        let code = line.timecode.as_ref().map(ToString::to_string).unwrap_or_default();
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
            "1:05|Bob|yes",
            "1:02:03|Carol|rolling back",
            "||no one in particular",
            "||see http://x.example: it says so, and then: nothing",
            "10:30||we saw it",
        ]
    );
    let numbers: Vec<usize> = transcript.lines.iter().map(|line| line.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
    assert_eq!((transcript.broken_cues, transcript.left_out), (0, 0));
}

#[test]
fn what_nobody_can_see_was_not_said() {
    let hidden = "\u{200B}\u{200E} \u{2060}\u{AD}\u{FE0F}\u{206A}\u{2800}";
    for form in [TranscriptForm::Text, TranscriptForm::WebVtt] {
        for file in [
            hidden.to_owned(),
            format!("\u{FEFF}\u{FEFF}{hidden}\n{hidden}\r\n"),
            format!(
                "WEBVTT\n\n00:01.000 --> 00:02.000\n{hidden}\n\n00:03.000 --> 00:04.000\n<v Ada>{hidden}</v>\n"
            ),
        ] {
            // To a reader of plain text the head of a VTT file is a line like another.
            if form == TranscriptForm::WebVtt || !file.starts_with("WEBVTT") {
                let told = Transcript::parse(file.as_bytes(), form);
                assert_eq!(told, Err(TranscriptError::Empty), "{form:?} {file:?}");
            }
        }
    }
    assert_eq!(
        Transcript::parse(
            format!("Ada: {hidden}\n[00:01:02] {hidden}").as_bytes(),
            TranscriptForm::Text
        ),
        Err(TranscriptError::Empty)
    );
    let seen = text(format!("{hidden}\nAda: it is\u{200B} down\n").as_bytes());
    assert_eq!(shown(&seen), ["|Ada|it is\u{200B} down"]);
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
            "01:02|Bob Jones|5 < 6",
            "01:02|Alice|a < b &lt;",
            "00:02:00||plain",
        ]
    );
    assert_eq!(transcript.broken_cues, 0);
}

#[test]
fn a_tag_ends_within_its_bounds() {
    let cue = |tag: &str| {
        let transcript = vtt(format!("00:01.000 --> 00:02.000\n<{tag}>x").as_bytes());
        shown(&transcript)
    };
    let (longest, longer) = ("c".repeat(200), "c".repeat(201));
    assert_eq!(cue(&longest), ["00:01||x"]);
    assert_eq!(cue(&longer), [format!("00:01||<{longer}>x")]);
    // The bound falls into the middle of a character.
    let wide = format!("cc{}", "ä".repeat(100));
    assert_eq!(cue(&wide), [format!("00:01||<{wide}>x")]);
    let fitting = format!("cc{}", "ä".repeat(99));
    assert_eq!(cue(&fitting), ["00:01||x"]);
}

#[test]
fn a_file_of_bare_brackets_is_read_in_a_moment() {
    let text = "<".repeat(10 * 1024 * 1024);
    assert!(size(&vtt(text.as_bytes())) <= MAX_CHARACTERS);
}

#[test]
fn nothing_that_a_long_file_repeats_is_looked_through_again_and_again() {
    const LONG: usize = 1024 * 1024;
    for piece in [
        "<a", "<v A", "<v A>b", "</v>", "&", "&amp;", "-->", "-->\n", "-->\n\n", "\r", "a\n", "ä",
        "<ä", "[", ": ",
    ] {
        let text = format!("said\n\nx{}", piece.repeat(LONG / piece.len()));
        assert!(size(&vtt(text.as_bytes())) <= MAX_CHARACTERS, "{piece:?}");
    }
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
fn a_line_of_times_begins_a_cue_also_where_no_blank_line_ends_the_one_before() {
    let transcript =
        vtt(b"WEBVTT\nKind: captions\n00:01.000 --> 00:02.000\n<v Ada>one\nand a half\n\
          00:03.000 --> 00:04.000\n<v Bob>two\n7\n00:05.000 --> 00:06.000\nthree\n\n\
          8\n00:07.000 --> 00:08.000\nfour\n\nNOTE a\nb\n00:09.000 --> 00:10.000\nfive");
    assert_eq!(
        shown(&transcript),
        [
            "00:01|Ada|one and a half",
            // Only after a blank line a cue has a name.
            "00:03|Bob|two 7",
            "00:05||three",
            "00:07||four",
            "00:09||five",
        ]
    );
    assert_eq!(transcript.broken_cues, 0);
}

#[test]
fn a_broken_cue_ends_the_one_before_and_keeps_what_was_said() {
    let transcript = vtt(b"WEBVTT\n\n00:01.000 --> 00:02.000\none\n00:xx --> 00:04.000\ntwo\n\
          so traffic went A --> B\nand stayed\n00:05.000 --> 00:06.000\nthree\n\n\
          no times\nat all\n00:07.000 --> 00:08.000\nfour\n\nwe saw\ntraffic go A --> B");
    assert_eq!(
        shown(&transcript),
        [
            "00:01||one",
            "||two",
            "||so traffic went A --> B and stayed",
            "00:05||three",
            "||no times at all",
            "00:07||four",
            "||we saw traffic go A --> B",
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
    // An archive that does not compress is full of words.
    let said = "Ada: checkout is down\n".repeat(50);
    let stored = |kind: &[u8]| [kind, b"\x14\0\0\0call.txt", said.as_bytes()].concat();
    let archives = [
        stored(b"PK\x03\x04"),
        stored(b"\x1F\x8B\x08"),
        stored(b"7z\xBC\xAF\x27\x1C"),
        stored(b"Rar!\x1A\x07"),
        stored(b"%PDF-1.7"),
    ];
    for bytes in &archives {
        let error = Transcript::parse(bytes, TranscriptForm::Text).unwrap_err();
        assert_eq!(error.code(), "original_not_text", "{:?}", &bytes[..8]);
    }
    assert!(Transcript::parse(b"PK: the pool is full", TranscriptForm::Text).is_ok());
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
fn a_long_line_becomes_several() {
    let long = "ä".repeat(2 * MAX_LINE + 1);
    let transcript = text(format!("00:01 A: {long}").as_bytes());
    assert_eq!(transcript.lines.len(), 3);
    assert!(transcript.lines.iter().all(|line| line.speaker.as_deref() == Some("A")));
}

/// Characters of the lines as they are told.
fn size(transcript: &Transcript) -> usize {
    transcript.lines.iter().map(|line| line.to_string().chars().count() + 1).sum()
}

#[test]
fn of_too_many_lines_the_middle_is_left_out_and_counted() {
    for line in ["x".to_owned(), "ä".repeat(1_999)] {
        let count = 2 * MAX_CHARACTERS / line.chars().count();
        let transcript =
            text(format!("first\n{}last", format!("{line}\n").repeat(count)).as_bytes());
        let (first, last) = (transcript.lines.first().unwrap(), transcript.lines.last().unwrap());
        assert_eq!((&*first.text, &*last.text, last.number), ("first", "last", count + 2));
        assert_eq!(transcript.lines.len() + transcript.left_out, count + 2);
        assert!((MAX_CHARACTERS - 5_000..=MAX_CHARACTERS).contains(&size(&transcript)));
        let gaps = transcript.lines.windows(2).filter(|two| two[1].number != two[0].number + 1);
        assert_eq!(gaps.count(), 1, "it is cut in one place");
    }
}

#[test]
fn what_fits_is_whole() {
    // The line in the middle would fit into neither half, but into the whole.
    let lines = MAX_CHARACTERS / MAX_LINE - 1;
    let transcript = text(format!("{}\n", "y".repeat(MAX_LINE)).repeat(lines).as_bytes());
    assert!(size(&transcript) > MAX_CHARACTERS - 2 * MAX_LINE);
    assert_eq!((transcript.lines.len(), transcript.left_out), (lines, 0));
}

#[test]
fn timecodes_are_read_in_the_usual_ways_only() {
    for (given, kept) in [
        ("0:00", Some("0:00")),
        ("1:02", Some("1:02")),
        ("21:04", Some("21:04")),
        ("59:59.999", Some("59:59")),
        ("100:00:00", Some("100:00:00")),
        ("01:02:03,5", Some("01:02:03")),
        ("60:00", Some("60:00")),
        ("75:30.5", Some("75:30")),
        ("100:00", Some("100:00")),
        ("1000:00", None),
        ("75:60", None),
        ("1:75:30", None),
        ("1:60", None),
        ("1:2", None),
        ("1", None),
        ("1:02:03:04", None),
        ("-1:02", None),
        ("1:02.", None),
        ("9999999999:00:00", None),
    ] {
        let read = Timecode::parse(given).map(|code| code.to_string());
        assert_eq!(read.as_deref(), kept, "{given}");
    }
}

#[test]
fn a_time_of_day_stays_what_somebody_wrote() {
    let transcript = text(b"21:04 Grace: the database is down\n[21:31:10] Ada: it is back");
    assert_eq!(shown(&transcript), ["21:04|Grace|the database is down", "21:31:10|Ada|it is back"]);
}

#[test]
fn a_call_of_more_than_an_hour_may_be_told_in_minutes() {
    let transcript = text(b"75:30 Bob: it is back\n[120:05] Ada: good");
    assert_eq!(shown(&transcript), ["75:30|Bob|it is back", "120:05|Ada|good"]);
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
