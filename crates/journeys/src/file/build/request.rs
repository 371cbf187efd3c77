//! Requests.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Site;
use super::names::May;
use crate::bounds::{DEFAULT_TIMEOUT, MAX_HEADERS, MAX_TIMEOUT};
use crate::file::forms::Span;
use crate::file::mistakes::Way;
use crate::file::shape::RequestShape;
use crate::model::{Body, Method, Request};
use crate::request::check_header;
use crate::template::Template;

impl Site<'_> {
    /// A request, where `way` leads to the step or poll that it stands in.
    pub(super) fn request(&mut self, way: &Way, shape: &RequestShape<'_>) -> Option<Request> {
        let (method, url) = self.method(way, shape)?;
        let headers = self.headers(&way.key("headers"), shape.headers);
        let timeout = shape.timeout.unwrap_or(Span(DEFAULT_TIMEOUT));
        let least = Duration::from_millis(1);
        let timeout = self.span(&way.key("timeout"), timeout, least, MAX_TIMEOUT);
        if shape.follow == Some(true) && !method.is_safe() {
            let message = "redirects are followed only for get and head; leave it out";
            self.mistakes.add(&way.key("follow"), message);
        }
        let body = self.body(way, shape);
        let follow = shape.follow.unwrap_or(true) && method.is_safe();
        Some(Request { method, url, headers, body: body?, timeout: timeout?, follow })
    }

    /// A name or a value that could never be sent is told before anything is.
    fn headers(
        &mut self,
        way: &Way,
        given: Option<&BTreeMap<String, String>>,
    ) -> Vec<(String, Template)> {
        let headers = self.templates(way, given);
        for (name, value) in &headers {
            if let Err(error) = check_header(name, &value.around()) {
                self.mistakes.add(&way.key(name), error.to_string());
            }
        }
        headers
    }

    fn method(&mut self, way: &Way, shape: &RequestShape<'_>) -> Option<(Method, Template)> {
        let given: Vec<_> =
            shape.methods.iter().filter_map(|(key, url)| Some((*key, (*url)?))).collect();
        let [(key, url)] = given.as_slice() else {
            let message = match given.as_slice() {
                [] => "there is no request; give one of get, head, post, put, patch and delete"
                    .to_owned(),
                more => {
                    let keys: Vec<&str> = more.iter().map(|(key, _)| *key).collect();
                    format!("there is more than one request: {}; keep one", keys.join(", "))
                }
            };
            self.mistakes.add(way, message);
            return None;
        };
        let method =
            Method::ALL.into_iter().find(|method| method.name().eq_ignore_ascii_case(key))?;
        let way = way.key(key);
        let url = self.template(&way, url, May::Variables)?;
        let is_http =
            ["http://", "https://", "{{"].iter().any(|start| url.as_str().starts_with(start));
        if !is_http {
            self.mistakes.add(&way, "an address begins with http://, https:// or {{ a variable }}");
        }
        Some((method, url))
    }

    fn body(&mut self, way: &Way, shape: &RequestShape<'_>) -> Option<Body> {
        let bodies = [
            ("json", shape.json.is_some()),
            ("form", shape.form.is_some()),
            ("body", shape.body.is_some()),
        ];
        let given: Vec<&str> = bodies.iter().filter(|(_, is)| *is).map(|(key, _)| *key).collect();
        if given.len() > 1 {
            self.mistakes
                .add(way, format!("there is more than one body: {}; keep one", given.join(", ")));
            return None;
        }
        if let Some(json) = shape.json {
            return self.json(&way.key("json"), json).map(Body::Json);
        }
        if let Some(body) = shape.body {
            return self.template(&way.key("body"), body, May::Variables).map(Body::Text);
        }
        Some(match shape.form {
            Some(form) => Body::Form(self.templates(&way.key("form"), Some(form))),
            None => Body::Empty,
        })
    }

    /// Names with templates.
    pub(super) fn templates(
        &mut self,
        way: &Way,
        given: Option<&BTreeMap<String, String>>,
    ) -> Vec<(String, Template)> {
        let mut templates = Vec::new();
        for (name, text) in given.into_iter().flatten() {
            let template = self.template(&way.key(name), text, May::Variables);
            templates.extend(template.map(|template| (name.clone(), template)));
        }
        self.mistakes.at_most(way, templates.len(), MAX_HEADERS, "entries");
        templates
    }
}
