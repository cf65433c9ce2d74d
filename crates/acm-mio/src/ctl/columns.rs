//! Columns of text.

/// Returns a line for each row. A column gets wider with its longest cell.
pub(super) fn lines<const N: usize>(widths: &mut [usize; N], rows: &[[String; N]]) -> String {
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let line = |row: &[String; N]| {
        let cells: Vec<String> = row.iter().zip(*widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        cells.join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// Returns a line of titles, and one for each row.
pub(super) fn table<const N: usize>(titles: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let rows: Vec<_> = core::iter::once(titles.map(str::to_owned)).chain(rows).collect();
    lines(&mut [0; N], &rows)
}
