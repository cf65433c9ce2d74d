//! Structures and values of MADs against captures, dissections and tables of other programs.
mod capabilities;
mod captures;
mod common;
mod examples;
mod layouts;
mod oracle_fields;
mod printed;
mod text;
mod values;
mod views;
