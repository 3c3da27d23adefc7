//! Compiles expressions of the document to nodes.

use serde_json::Value;

use super::sizes::Demand;
use super::{Compiler, number_of};
use crate::bits::Slot;
use crate::error::{Error, Result, refuse};
use crate::json::{TypedValue, hex_bytes};
use crate::node::{Arithmetic, Cast, Comparison, Expression, HeaderPlace, Node, NodeId, Size};
use crate::number::{Number, Wide, wide};
use crate::program::Field;

/// The meaning of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    /// A number or a truth value.
    Value(NodeId),
    Header(HeaderPlace),
    /// A stack of headers or unions.
    Stack(u32),
    Union(u32),
    UnionAt(u32, NodeId),
    Varbit(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// A field at a fixed position.
    Field(Slot),
    /// A field of a header that is known only at run time.
    At(HeaderPlace, u32, Slot),
}

impl Compiler<'_> {
    fn push(&mut self, node: Node) -> NodeId {
        self.program.nodes.push(node);
        self.program.nodes.len() as u32 - 1
    }

    fn constant(&mut self, value: Wide) -> NodeId {
        self.program.constants.push(value);
        self.push(Node::Constant(self.program.constants.len() as u32 - 1))
    }

    /// The number written in `text`: hexadecimal, with an optional sign.
    fn hex(&mut self, text: &str) -> Result<NodeId> {
        let (digits, is_negative) = text.strip_prefix('-').map_or((text, false), |digits| (digits, true));
        let bytes = hex_bytes(digits)?;
        let value = wide(&bytes);
        if bytes.len() > 256 && value.bits() > 2048 {
            refuse!("the constant {text} has more than 2048 bits");
        }
        Ok(self.constant(if is_negative { -value } else { value }))
    }

    /// The meaning of `value`, an object with a type.
    pub(super) fn operand(&mut self, value: &Value) -> Result<Operand> {
        let of = TypedValue::of(value)?;
        match of.kind.as_str() {
            "expression" => match of.value.get("op") {
                Some(_) => self.operation(&of.value),
                None => self.operand(&of.value),
            },
            "hexstr" => {
                let node = self.hex(of.text()?)?;
                Ok(Operand::Value(node))
            }
            "bool" => {
                let is_true = of.value.as_bool().ok_or_else(|| Error::new(format!("{} is no bool", of.value)))?;
                Ok(Operand::Value(self.push(Node::Bool(is_true))))
            }
            "field" => self.field(&of),
            "local" | "runtime_data" => {
                let number = of.value.as_u64().and_then(|number| self.parameters.get(number as usize));
                let Some(&(_, slot)) = number else { refuse!("the action has no parameter {}", of.value) };
                Ok(Operand::Value(self.push(Node::Parameter(slot))))
            }
            "header" => {
                let name = of.text()?;
                match self.union_named(name) {
                    Some(union) => Ok(Operand::Union(union)),
                    None => Ok(Operand::Header(HeaderPlace::Fixed(self.header(name)?))),
                }
            }
            "header_stack" | "header_union_stack" => {
                Ok(Operand::Stack(number_of(&self.stacks, "header stack", of.text()?)?))
            }
            "header_union" => Ok(Operand::Union(number_of(&self.unions, "header union", of.text()?)?)),
            "stack_field" => {
                let (stack, field) = of.pair()?;
                let stack = number_of(&self.stacks, "header stack", stack)?;
                let (place, number, slot) = self.access(HeaderPlace::Last(stack), field)?;
                Ok(Operand::Value(self.push(Node::Access(place, number, slot))))
            }
            "register" => self.register(&of.value),
            other => refuse!("a value of type \"{other}\" is not supported in expressions"),
        }
    }

    fn field(&mut self, of: &TypedValue) -> Result<Operand> {
        let (header, field) = of.pair()?;
        if field == "$valid$" {
            let holds = match self.union_named(header) {
                Some(union) => Node::ValidUnion(union),
                None => Node::Valid(HeaderPlace::Fixed(self.header(header)?)),
            };
            let holds = self.push(holds);
            return Ok(Operand::Value(self.push(Node::FromBool(holds))));
        }
        match self.field_named(header, field)? {
            (header, Field { is_varbit: true, .. }) => Ok(Operand::Varbit(header)),
            (_, &Field { slot, .. }) => Ok(Operand::Value(self.push(Node::Field(slot)))),
        }
    }

    fn register(&mut self, value: &Value) -> Result<Operand> {
        let name = value.get(0).and_then(Value::as_str).unwrap_or_default();
        let array = number_of(&self.program.registers, "register array", name)?;
        let index = self.number(value.get(1).unwrap_or(&Value::Null))?;
        let width = self.program.registers[array as usize].width;
        Ok(Operand::Value(self.push(Node::Register(array, index, width))))
    }

    /// The field with this name in the headers that `place` can denote.
    pub(super) fn access(&self, place: HeaderPlace, field: &str) -> Result<(HeaderPlace, u32, Slot)> {
        let header = self.any_header(place)?;
        let number = self.field_number(header, field)?;
        self.access_number(place, number)
    }

    fn access_number(&self, place: HeaderPlace, number: u32) -> Result<(HeaderPlace, u32, Slot)> {
        let header = &self.program.headers[self.any_header(place)? as usize];
        let field = self.program.fields.get((header.fields.start + number) as usize);
        match field.filter(|field| number < header.fields.len() as u32 && !field.is_varbit) {
            Some(field) => Ok((place, number, field.slot)),
            None => refuse!("{} has no field number {number} that can be computed with", header.name),
        }
    }

    /// One of the headers that `place` can denote; all have the same type.
    fn any_header(&self, place: HeaderPlace) -> Result<u32> {
        let first = |stack: u32| self.program.stacks[stack as usize].headers.first().copied();
        let member = |stack: u32, member: u32| {
            let union = first(stack)?;
            self.program.unions[union as usize].headers.get(member as usize).copied()
        };
        let header = match place {
            HeaderPlace::Fixed(header) => Some(header),
            HeaderPlace::Element(stack, _) | HeaderPlace::Last(stack) => first(stack),
            HeaderPlace::Member(stack, _, number) | HeaderPlace::LastMember(stack, number) => member(stack, number),
        };
        header.ok_or_else(|| Error::new("a stack is empty, or has no such member"))
    }

    fn operation(&mut self, of: &Value) -> Result<Operand> {
        let name = of.get("op").and_then(Value::as_str).unwrap_or_default();
        let (left, right) = (of.get("left").unwrap_or(&Value::Null), of.get("right").unwrap_or(&Value::Null));
        let arithmetic = match name {
            "+" => Some(Arithmetic::Add),
            "-" => Some(Arithmetic::Sub),
            "*" => Some(Arithmetic::Mul),
            "/" => Some(Arithmetic::Div),
            "%" => Some(Arithmetic::Mod),
            "&" => Some(Arithmetic::And),
            "|" => Some(Arithmetic::Or),
            "^" => Some(Arithmetic::Xor),
            "<<" => Some(Arithmetic::ShiftLeft),
            ">>" => Some(Arithmetic::ShiftRight),
            _ => None,
        };
        if let Some(arithmetic) = arithmetic {
            let one = if left.is_null() { self.constant(Wide::ZERO) } else { self.number(left)? };
            let other = self.number(right)?;
            return Ok(Operand::Value(self.push(Node::Arithmetic(arithmetic, one, other))));
        }
        let node = match name {
            "==" => return self.equality(left, right, true),
            "!=" => return self.equality(left, right, false),
            "<" => self.comparison(Comparison::Less, left, right)?,
            "<=" => self.comparison(Comparison::LessEqual, left, right)?,
            ">" => self.comparison(Comparison::Greater, left, right)?,
            ">=" => self.comparison(Comparison::GreaterEqual, left, right)?,
            "and" => Node::Both(self.condition(left)?, self.condition(right)?),
            "or" => Node::Either(self.condition(left)?, self.condition(right)?),
            "not" => Node::Negate(self.condition(right)?),
            "~" => Node::Not(self.number(right)?),
            "?" => return self.choice(of, left, right),
            "d2b" => return Ok(Operand::Value(self.condition(right)?)),
            "b2d" => return Ok(Operand::Value(self.number(right)?)),
            "two_comp_mod" => self.cast(Cast::Wrap, left, right)?,
            "usat_cast" => self.cast(Cast::Saturate, left, right)?,
            "sat_cast" => self.cast(Cast::SaturateSigned, left, right)?,
            _ => return self.structure(name, left, right),
        };
        Ok(Operand::Value(self.push(node)))
    }

    /// Compiles operations on headers, unions and stacks.
    fn structure(&mut self, name: &str, left: &Value, right: &Value) -> Result<Operand> {
        let node = match name {
            "valid" => match self.operand(right)? {
                Operand::Header(place) => Node::Valid(place),
                Operand::Union(union) => Node::ValidUnion(union),
                other => refuse!("\"valid\" takes a header, and has {other:?}"),
            },
            "valid_union" => match self.operand(right)? {
                Operand::Union(union) => Node::ValidUnion(union),
                _ => refuse!("\"valid_union\" takes a header union that is known when the program is compiled"),
            },
            "last_stack_index" => Node::Filled(self.stack(right)?, 1),
            "size_stack" => Node::Filled(self.stack(right)?, 0),
            "dereference_header_stack" => {
                let (stack, index) = (self.stack(left)?, self.number(right)?);
                return Ok(Operand::Header(HeaderPlace::Element(stack, index)));
            }
            "dereference_union_stack" => {
                let (stack, index) = (self.stack(left)?, self.number(right)?);
                return Ok(Operand::UnionAt(stack, index));
            }
            "access_union_header" => {
                let member = right.as_u64().ok_or_else(|| Error::new("a member of a union needs a number"))? as u32;
                let place = match self.operand(left)? {
                    Operand::UnionAt(stack, index) => HeaderPlace::Member(stack, index, member),
                    Operand::Union(union) => {
                        let headers = &self.program.unions[union as usize].headers;
                        let header = headers.get(member as usize).copied();
                        HeaderPlace::Fixed(header.ok_or_else(|| Error::new("a union has no such member"))?)
                    }
                    other => refuse!("\"access_union_header\" takes a union, and has {other:?}"),
                };
                return Ok(Operand::Header(place));
            }
            "access_field" => {
                let number = right.as_u64().ok_or_else(|| Error::new("a field needs a number"))? as u32;
                let Operand::Header(place) = self.operand(left)? else { refuse!("\"access_field\" takes a header") };
                let (place, number, slot) = self.access_number(place, number)?;
                Node::Access(place, number, slot)
            }
            other => refuse!("the operation \"{other}\" is not supported"),
        };
        Ok(Operand::Value(self.push(node)))
    }

    pub(super) fn stack(&mut self, value: &Value) -> Result<u32> {
        match self.operand(value)? {
            Operand::Stack(stack) => Ok(stack),
            other => refuse!("a header stack is needed, and there is {other:?}"),
        }
    }

    fn comparison(&mut self, comparison: Comparison, left: &Value, right: &Value) -> Result<Node> {
        let (one, other) = (self.number(left)?, self.number(right)?);
        Ok(Node::Compare(comparison, one, other, self.compared(one, other, false)?))
    }

    fn equality(&mut self, left: &Value, right: &Value, is_equal: bool) -> Result<Operand> {
        let (one, other) = (self.operand(left)?, self.operand(right)?);
        let node = match (one, other) {
            (Operand::Header(one), Operand::Header(other)) => Node::HeadersEqual(one, other),
            (Operand::Union(one), Operand::Union(other)) => Node::UnionsEqual(one, other),
            (Operand::Varbit(one), Operand::Varbit(other)) => Node::VarbitsEqual(one, other),
            (Operand::Value(one), Operand::Value(other)) => {
                let is_bool = |node: NodeId| self.program.nodes[node as usize].is_bool();
                if is_bool(one) && is_bool(other) {
                    Node::Same(one, other)
                } else {
                    let size = self.compared(one, other, true)?;
                    Node::Compare(Comparison::Equal, one, other, size)
                }
            }
            (one, other) => refuse!("{one:?} and {other:?} cannot be compared"),
        };
        let node = self.push(node);
        Ok(Operand::Value(if is_equal { node } else { self.push(Node::Negate(node)) }))
    }

    fn choice(&mut self, of: &Value, left: &Value, right: &Value) -> Result<Operand> {
        let condition = self.condition(of.get("cond").unwrap_or(&Value::Null))?;
        let (Operand::Value(one), Operand::Value(other)) = (self.operand(left)?, self.operand(right)?) else {
            refuse!("a choice (\"?:\") between headers is not supported");
        };
        let is_bool = |node: NodeId| self.program.nodes[node as usize].is_bool();
        if is_bool(one) && is_bool(other) {
            let not = self.push(Node::Negate(condition));
            let (yes, no) = (self.push(Node::Both(condition, one)), self.push(Node::Both(not, other)));
            return Ok(Operand::Value(self.push(Node::Either(yes, no))));
        }
        Ok(Operand::Value(self.push(Node::Choice(condition, one, other))))
    }

    fn cast(&mut self, cast: Cast, left: &Value, right: &Value) -> Result<Node> {
        let value = self.number(left)?;
        let width = self.number(right)?;
        let Node::Constant(width) = self.program.nodes[width as usize] else { refuse!("a cast needs a fixed width") };
        let width = self.program.constants[width as usize].index();
        match u32::try_from(width) {
            Ok(width) if width <= 2048 => Ok(Node::Cast(cast, value, width)),
            _ => refuse!("a cast to {width} bits, and 2048 are the most"),
        }
    }

    pub(super) fn number(&mut self, value: &Value) -> Result<NodeId> {
        match self.operand(value)? {
            Operand::Value(node) if self.program.nodes[node as usize].is_bool() => Ok(self.push(Node::FromBool(node))),
            Operand::Value(node) => Ok(node),
            other => refuse!("a number is needed, and there is {other:?}"),
        }
    }

    pub(super) fn condition(&mut self, value: &Value) -> Result<NodeId> {
        match self.operand(value)? {
            Operand::Value(node) if self.program.nodes[node as usize].is_bool() => Ok(node),
            Operand::Value(node) => match self.sized(node, Demand::Whole)? {
                Expression::Tree(node, size) => Ok(self.push(Node::ToBool(node, size))),
                Expression::Field(slot) if slot.width <= 63 => Ok(self.push(Node::ToBool(node, Size::Word))),
                Expression::Field(_) => Ok(self.push(Node::ToBool(node, Size::Wide))),
            },
            other => refuse!("true or false is needed, and there is {other:?}"),
        }
    }

    /// Compiles an expression; only its low `width` bits are used.
    pub(super) fn low(&mut self, value: &Value, width: u32) -> Result<Expression> {
        let node = self.number(value)?;
        self.sized(node, Demand::Low(width))
    }

    /// Compiles an expression; its exact value is used.
    pub(super) fn exact(&mut self, value: &Value) -> Result<Expression> {
        let node = self.number(value)?;
        self.sized(node, Demand::Whole)
    }

    /// The target denoted by a parameter.
    pub(super) fn destination(&mut self, value: &TypedValue) -> Result<Destination> {
        if value.kind == "field" {
            let (header, field) = value.pair()?;
            return Ok(Destination::Field(self.slot(header, field)?));
        }
        let value = serde_json::json!({"type": value.kind, "value": value.value});
        if let Operand::Value(node) = self.operand(&value)? {
            match self.program.nodes[node as usize] {
                Node::Field(slot) => return Ok(Destination::Field(slot)),
                Node::Access(place, field, slot) => return Ok(Destination::At(place, field, slot)),
                _ => {}
            }
        }
        refuse!("{value} is nothing that can be written")
    }
}
