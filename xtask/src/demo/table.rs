//! Aligned columns of ASCII.
use core::fmt;

/// A table: a head and rows, each cell a text.
#[derive(Debug, Default)]
pub(super) struct Table(Vec<Vec<String>>);

impl Table {
    /// A table with its head.
    pub(super) fn new(head: impl IntoIterator<Item = impl ToString>) -> Self {
        let mut table = Self::default();
        table.row(head);
        table
    }

    /// Adds a row.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = impl ToString>) {
        self.0.push(cells.into_iter().map(|cell| cell.to_string()).collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.0.iter().map(Vec::len).max().unwrap_or_default();
        let width = |column| self.0.iter().filter_map(|row| row.get(column)).map(String::len).max().unwrap_or_default();
        let widths: Vec<_> = (0..columns).map(width).collect();
        for (number, row) in self.0.iter().enumerate() {
            let cells: String = row.iter().zip(&widths).map(|(cell, width)| format!("  {cell:width$}")).collect();
            writeln!(f, "{}", cells.trim_end())?;
            if number == 0 {
                let rules: String = widths.iter().map(|width| format!("  {}", "-".repeat(*width))).collect();
                writeln!(f, "{rules}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(["by", "LID"]);
        table.row(["name", "17"]);
        table.row(["IPv6", "1"]);
        assert_eq!(table.to_string(), "  by    LID\n  ----  ---\n  name  17\n  IPv6  1\n");
    }
}
