use super::*;

fn get(url: &str) -> WebRequestBuilder {
    WebRequest::get("test", &Url::parse(url).unwrap())
}

fn secret(value: &str) -> Secret<String> {
    Secret::new(value.to_owned())
}

fn header(request: &WebRequest, name: &str) -> Vec<String> {
    let values = request.prepared().headers.get_all(name).iter();
    values.map(|value| value.to_str().unwrap().to_owned()).collect()
}

#[test]
fn a_request_says_who_asks_and_what_is_understood() {
    let request = get("https://example.com:8443/health?full=1").build().unwrap();
    assert_eq!(header(&request, "host"), ["example.com:8443"]);
    assert_eq!(header(&request, "user-agent"), [OWN_NAME]);
    assert_eq!(header(&request, "accept-encoding"), ["gzip"]);
    assert!(OWN_NAME.starts_with("Mainstay/0."));
}

#[test]
fn credentials_of_a_url_become_a_login() {
    let request = get("http://us%20er:p%40ss%C3%A4@example.com/").build().unwrap();
    assert_eq!(header(&request, "authorization"), ["Basic dXMgZXI6cEBzc8Ok"]);
    assert!(
        get("http://example.com/")
            .build()
            .unwrap()
            .prepared()
            .headers
            .get("authorization")
            .is_none()
    );
    let own = get("http://user:pass@example.com/").header("Authorization", secret("Bearer x"));
    assert_eq!(header(&own.build().unwrap(), "authorization"), ["Bearer x"]);
}

#[test]
fn headers_of_the_caller_stand_in_place_of_ours() {
    let request = get("http://example.com/")
        .header("Accept", secret("text/plain"))
        .header("X-Key", secret("one"))
        .header("x-key", secret("two"))
        .build()
        .unwrap();
    assert_eq!(header(&request, "accept"), ["text/plain"]);
    assert_eq!(header(&request, "x-key"), ["one", "two"]);
}

#[test]
fn what_can_not_be_sent_is_told_without_its_value() {
    for (name, value, told) in [
        ("Host", "other.example", "the header host is Mainstay's own"),
        ("Transfer-Encoding", "chunked", "the header transfer-encoding is Mainstay's own"),
        ("content-length", "5", "the header content-length is Mainstay's own"),
        ("X-Key", "hunter2\r\nX-Other: 1", "the value of the header x-key can't be sent"),
        ("X-Key", "hunter2\0", "the value of the header x-key can't be sent"),
        ("hunter2\r\n", "x", "header 1 has a name that is none"),
        ("", "hunter2", "header 1 has a name that is none"),
    ] {
        let refused = get("http://example.com/").header(name, secret(value)).build();
        let refused = refused.expect_err(name).to_string();
        assert!(refused.starts_with(told) && !refused.contains("hunter2"), "{refused}");
    }
}

#[test]
fn the_headers_have_an_end() {
    let add =
        |builder: WebRequestBuilder, at: usize| builder.header(format!("x-{at}"), secret("y"));
    let fits = (0..MAX_HEADERS).fold(get("http://example.com/"), add);
    assert!(fits.clone().build().is_ok());
    assert_eq!(add(fits, MAX_HEADERS).build().err(), Some(RequestError::TooManyHeaders));
    let long = get("http://example.com/").header("x", secret(&"y".repeat(MAX_HEADER_BYTES)));
    assert_eq!(long.build().err(), Some(RequestError::TooManyHeaders));
}

#[test]
fn no_time_is_no_request() {
    let refused = get("http://example.com/").timeout(Duration::ZERO).build();
    assert_eq!(refused.err(), Some(RequestError::NoTime));
}

#[test]
fn nothing_secret_is_printed() {
    let builder = get("http://user:hunter2@example.com/?key=hunter2");
    let builder = builder.header("X-Key", secret("hunter2"));
    assert!(!format!("{builder:?}").contains("hunter2"));
    let request = builder.build().unwrap();
    assert!(!format!("{request:?}").contains("hunter2"), "{request:?}");
    assert!(!format!("{:?}", request.prepared().headers).contains("hunter2"));
}
