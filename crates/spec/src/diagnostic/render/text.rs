//! For people: the source line, a caret, advice, and the repair as a patch.

use std::collections::HashMap;
use std::ops::Range;

use annotate_snippets::{
    Annotation, AnnotationKind, Element, Group, Level, Origin, Patch, Renderer, Snippet,
};

use super::window::{MARK, Window, line_range};
use super::{Locator, Report, applicable, harmless_text, is_flag, presentable};
use crate::diagnostic::{Diagnostic, Edit, Fix, Label, Severity};
use crate::source::{Source, SourceId, Span};

/// Whether to use the colours of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Plain text.
    Never,
    /// With escape sequences.
    Always,
}

/// Places of one file that are further apart are shown as two pieces.
const WIDEST_GAP: usize = 100;

/// A repair that changes more lines is told in words only.
const LONGEST_PATCH: usize = 12;

/// All problems, each followed by an empty line.
pub fn text(reports: &[Report<'_>], colour: Colour) -> String {
    let renderer = match colour {
        Colour::Never => Renderer::plain(),
        Colour::Always => Renderer::styled().hyperlink(false),
    };
    let mut out = String::new();
    for report in reports {
        let mut painter = Painter {
            report: *report,
            locator: Locator::default(),
            hidden: HashMap::new(),
        };
        for diagnostic in report.diagnostics {
            painter.paint(diagnostic, &renderer, &mut out);
        }
    }
    out
}

struct Painter<'a> {
    report: Report<'a>,
    locator: Locator,
    hidden: HashMap<SourceId, Vec<Range<usize>>>,
}

/// A place to point at, within one line.
struct Mark {
    source: SourceId,
    range: Range<usize>,
    line: usize,
    label: String,
    kind: AnnotationKind,
}

impl Painter<'_> {
    fn paint(&mut self, diagnostic: &Diagnostic, renderer: &Renderer, out: &mut String) {
        let redactor = self.report.redactor;
        let shown = |text: &str| harmless_text(&presentable(text, redactor));
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        // The names and positions that stand in the drawing as marks.
        let mut names = Vec::new();
        let title = level
            .primary_title(shown(&diagnostic.message))
            .id(diagnostic.code.id);
        let mut group = Group::with_title(title);
        for marks in self.clusters(diagnostic) {
            group = group.element(self.snippet(&marks, &mut names));
        }
        let mut help: Vec<String> = diagnostic.help.iter().map(|help| shown(help)).collect();
        let mut patch = None;
        if let Some(fix) = applicable(diagnostic, &self.report) {
            let elements = self.patches(fix, diagnostic.span.source, &mut names);
            let question = help
                .iter()
                .position(|help| help.starts_with("did you mean"));
            match (elements, question) {
                (Some(elements), Some(at)) => {
                    let title = Level::HELP.secondary_title(help.remove(at));
                    patch = Some(title.elements(elements));
                }
                (Some(elements), None) => {
                    let title = Level::HELP.secondary_title(shown(&fix.title));
                    patch = Some(title.elements(elements));
                }
                (None, None) => help.push(shown(&fix.title)),
                (None, Some(_)) => {}
            }
        }
        group = group.elements(help.into_iter().map(|help| Level::HELP.message(help)));
        let groups: Vec<Group<'_>> = std::iter::once(group).chain(patch).collect();
        put_names(&renderer.render(&groups), &names, out);
        out.push_str("\n\n");
    }

    /// The places of a problem, those near each other together; the primary one comes first.
    fn clusters(&mut self, diagnostic: &Diagnostic) -> Vec<Vec<Mark>> {
        let primary = self.mark(diagnostic.span, &diagnostic.label, AnnotationKind::Primary);
        let mut clusters = vec![vec![primary]];
        for Label { span, message } in &diagnostic.related {
            let mark = self.mark(*span, message, AnnotationKind::Context);
            let near = clusters.iter_mut().find(|cluster| {
                cluster.iter().any(|other| {
                    other.source == mark.source && other.line.abs_diff(mark.line) <= WIDEST_GAP
                })
            });
            match near {
                Some(cluster) => cluster.push(mark),
                None => clusters.push(vec![mark]),
            }
        }
        clusters
    }

    /// Several lines are pointed at by their first one. The end of a file is pointed at behind its
    /// last word.
    fn mark(&self, span: Span, label: &str, kind: AnnotationKind) -> Mark {
        let source = self.report.sources.get(span.source);
        let text = source.text();
        let mut start = char_boundary(text, span.range().start);
        if start == text.len() {
            start = text.trim_end().len();
        }
        let line = line_index(source, start);
        let line_end = line_range(source, line).end;
        let mut end = char_boundary(text, span.range().end);
        if end > line_end {
            let first_line = text.get(start..line_end).unwrap_or_default();
            end = start + first_line.trim_end().len();
        }
        Mark {
            source: span.source,
            range: start..end.max(start),
            line,
            label: harmless_text(&presentable(label, self.report.redactor)),
            kind,
        }
    }

    fn snippet(&mut self, marks: &[Mark], names: &mut Vec<String>) -> Element<'static> {
        let Some(first) = marks.first() else {
            return Element::Origin(Origin::path(""));
        };
        let source = self.report.sources.get(first.source);
        if source.text().is_empty() {
            let name = names.len();
            names.push(harmless_text(source.name()));
            return Element::Origin(Origin::path(format!("{MARK}{name}")));
        }
        let name = self.name(source, first.range.start, names);
        let (window, lead) = self.window(source, marks.iter().map(|mark| mark.range.clone()));
        let annotations = marks.iter().map(|mark| -> Annotation<'static> {
            let range = window.range_of(&mark.range);
            let label = Some(mark.label.clone()).filter(|label| !label.is_empty());
            mark.kind
                .span(range.start + lead..range.end + lead)
                .label(label)
        });
        let annotations: Vec<_> = annotations.collect();
        Element::Cause(
            Snippet::source(window.text)
                .path(name)
                .line_start(window.first_line)
                .line_numbering(!is_flag(source))
                .annotations(annotations),
        )
    }

    /// The part of a source around some places, and by how much it was moved to the right: a flag
    /// is shown with its name.
    fn window(
        &mut self,
        source: &Source,
        focus: impl Iterator<Item = Range<usize>>,
    ) -> (Window, usize) {
        let redactor = self.report.redactor;
        let hidden = self
            .hidden
            .entry(source.id())
            .or_insert_with(|| redactor.hidden(source));
        let mut window = Window::new(source, &focus.collect::<Vec<_>>(), hidden);
        if !is_flag(source) {
            return (window, 0);
        }
        let flag = harmless_text(source.name()) + " ";
        window.text.insert_str(0, &flag);
        (window, flag.len())
    }

    /// The name of a file and the position, to be put where the mark stands in the drawing.
    fn name(&mut self, source: &Source, offset: usize, names: &mut Vec<String>) -> String {
        let name = if is_flag(source) {
            "command line".to_owned()
        } else {
            let position = self.locator.position(source, offset);
            format!(
                "{}:{}:{}",
                harmless_text(source.name()),
                position.line,
                position.column
            )
        };
        names.push(name);
        format!("{MARK}{}", names.len() - 1)
    }

    /// The edits as patches; none if they cannot be shown whole.
    fn patches(
        &mut self,
        fix: &Fix,
        primary: SourceId,
        names: &mut Vec<String>,
    ) -> Option<Vec<Element<'static>>> {
        let mut pieces: Vec<(usize, Vec<&Edit>)> = Vec::new();
        let mut edits: Vec<&Edit> = fix.edits.iter().collect();
        edits.sort_by_key(|edit| edit.span);
        for edit in edits {
            let source = self.report.sources.get(edit.span.source);
            let (start, end) = (edit.span.range().start, edit.span.range().end);
            source.text().get(start..end)?;
            let (line, last) = (line_index(source, start), line_index(source, end));
            if last - line >= LONGEST_PATCH {
                return None;
            }
            match pieces.last_mut() {
                Some((last_line, piece))
                    if piece[0].span.source == edit.span.source
                        && line <= *last_line + WIDEST_GAP =>
                {
                    *last_line = last;
                    piece.push(edit);
                }
                _ => pieces.push((last, vec![edit])),
            }
        }
        let mut elements = Vec::new();
        for (_, piece) in pieces {
            let source = self.report.sources.get(piece[0].span.source);
            let focus = piece.iter().map(|edit| edit.span.range());
            let (window, lead) = self.window(source, focus);
            let mut patches = Vec::new();
            for edit in piece {
                let range = edit.span.range();
                if window.is_cut && !(window.shows(range.start) && window.shows(range.end)) {
                    return None;
                }
                let replacement = presentable(&edit.replacement, self.report.redactor);
                let replacement: Vec<String> = replacement.split('\n').map(harmless_text).collect();
                let range = window.range_of(&range);
                patches.push(Patch::new(
                    range.start + lead..range.end + lead,
                    replacement.join("\n"),
                ));
            }
            let mut snippet = Snippet::source(window.text)
                .line_start(window.first_line)
                .line_numbering(!is_flag(source))
                .patches(patches);
            if source.id() != primary {
                let start = line_range(source, window.first_line - 1).start;
                snippet = snippet.path(self.name(source, start, names));
            }
            elements.push(Element::Suggestion(snippet));
        }
        Some(elements)
    }
}

fn line_index(source: &Source, offset: usize) -> usize {
    source
        .line_starts()
        .partition_point(|start| *start as usize <= offset)
        .max(1)
        - 1
}

/// The offset, or the nearest one before it at which a character starts.
fn char_boundary(text: &str, offset: usize) -> usize {
    let offset = offset.min(text.len());
    (0..=offset)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or_default()
}

/// Puts each name where its mark and a position stand in the drawing.
fn put_names(drawing: &str, names: &[String], out: &mut String) {
    let mut parts = drawing.split(MARK);
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let digits = part
            .find(|char: char| !char.is_ascii_digit())
            .unwrap_or(part.len());
        let index = part[..digits].parse::<usize>().ok();
        out.push_str(
            index
                .and_then(|index| names.get(index))
                .map_or("", String::as_str),
        );
        let rest = part.trim_start_matches(|char: char| char.is_ascii_digit() || char == ':');
        out.push_str(rest);
    }
}
