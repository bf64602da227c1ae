//! Files that runs left: fetched over the socket, compared with their digests, and what a client is given of
//! them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{ContentBlock, Resource, ResourceContents};
use serde_json::{Value, json};

use crate::model::{Artifact, Digest};

use super::link::{Link, Trouble};

/// The beginning of every resource's URI; `<id>/<name>` follows.
const SCHEME: &str = "countersign://run/";
pub const TEMPLATE: &str = "countersign://run/{id}/{+name}";
/// Bytes of one picture that is shown in an answer, and of one resource that is read at once.
pub const WHOLE_MAX: usize = 8_000_000;
/// Bytes of all pictures and figures in one answer. The others are links.
const SHOWN_MAX: u64 = 4_000_000;
/// Bytes of a figure that is given as JSON.
const FIGURE_MAX: u64 = 200_000;
const PNG: &str = "image/png";
const JSON: &str = "application/json";

pub fn uri(id: &str, name: &str) -> String {
    format!("{SCHEME}{id}/{name}")
}

/// The id and the name in a URI of ours.
pub fn of_uri(uri: &str) -> Option<(&str, &str)> {
    let (id, name) = uri.strip_prefix(SCHEME)?.split_once('/')?;
    Artifact::is_name(name).then_some((id, name))
}

pub fn link(id: &str, file: &Artifact) -> Resource {
    Resource::new(uri(id, &file.name), file.name.clone())
        .with_mime_type(file.media_type.clone())
        .with_size(file.bytes)
}

/// One part of a file, and where the next one begins.
pub async fn part(
    link: &Link,
    id: &str,
    name: &str,
    offset: u64,
) -> Result<(Vec<u8>, Option<u64>), Trouble> {
    let params = json!({"id": id, "name": name, "offset": offset});
    let answer = link.call("artifact", params).await?;
    let odd = || Trouble::Down("the dashboard sent what is no part of a file".to_owned());
    let text = answer["base64"].as_str().ok_or_else(odd)?;
    let bytes = STANDARD.decode(text).map_err(|_| odd())?;
    let next = answer.get("next_offset").and_then(Value::as_u64);
    // A dashboard that sends empty parts, or the same one again, could go on forever.
    match next {
        Some(next) if next != offset + bytes.len() as u64 || bytes.is_empty() => Err(odd()),
        _ => Ok((bytes, next)),
    }
}

/// A whole file, up to [`WHOLE_MAX`].
pub async fn whole(link: &Link, id: &str, name: &str) -> Result<Vec<u8>, Trouble> {
    let mut content = Vec::new();
    let mut offset = Some(0);
    while let Some(at) = offset {
        let (bytes, next) = part(link, id, name, at).await?;
        content.extend_from_slice(&bytes);
        if content.len() > WHOLE_MAX {
            let most = WHOLE_MAX;
            return Err(Trouble::Down(format!(
                "`{name}` has more than {most} bytes; read_artifact reads it in parts"
            )));
        }
        offset = next;
    }
    Ok(content)
}

pub fn is_png(content: &[u8]) -> bool {
    content.starts_with(b"\x89PNG\r\n\x1a\n")
}

pub fn image(content: &[u8]) -> ContentBlock {
    ContentBlock::image(STANDARD.encode(content), PNG)
}

/// What `resources/read` gives of a file: text if it is UTF-8.
pub fn contents(uri: String, content: Vec<u8>, media_type: Option<&str>) -> ResourceContents {
    match String::from_utf8(content) {
        Ok(text) => {
            ResourceContents::text(text, uri).with_mime_type(media_type.unwrap_or("text/plain"))
        }
        Err(binary) => {
            let binary = binary.into_bytes();
            let guess = match is_png(&binary) {
                true => PNG,
                false => "application/octet-stream",
            };
            let blob = STANDARD.encode(binary);
            ResourceContents::blob(blob, uri).with_mime_type(media_type.unwrap_or(guess))
        }
    }
}

/// Whether a file is a figure that plotly left as JSON.
fn is_figure(file: &Artifact) -> bool {
    let number = file.name.strip_prefix("fig");
    let number = number.and_then(|name| name.strip_suffix(".json"));
    let counted = number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    counted && file.media_type == JSON && file.bytes <= FIGURE_MAX
}

/// What an answer shows of a run's files: pictures as images, plotly's figures as JSON, the others as links.
/// A picture that cannot be fetched is a link, too.
pub async fn shown(link_: &Link, id: &str, files: &[Artifact]) -> Vec<ContentBlock> {
    let mut left = SHOWN_MAX;
    let mut blocks = Vec::new();
    for file in files.iter().filter(|file| Artifact::is_name(&file.name)) {
        let wanted = file.media_type == PNG || is_figure(file);
        let fetched = match wanted && file.bytes <= left {
            true => whole(link_, id, &file.name).await.ok(),
            false => None,
        };
        let sound = fetched.filter(|content| Digest::of(content).hex() == file.sha256);
        blocks.push(match sound {
            Some(content) => {
                left -= file.bytes;
                match is_png(&content) {
                    true => image(&content),
                    false => {
                        let uri = uri(id, &file.name);
                        ContentBlock::resource(contents(uri, content, Some(&file.media_type)))
                    }
                }
            }
            None => ContentBlock::resource_link(link(id, file)),
        });
    }
    blocks
}
