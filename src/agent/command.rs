//! What a person may ask of the assistant, whatever the front end.
//!
//! A command is a wish: the answer comes as events.

use super::call::CallId;
use super::node::NodeId;
use crate::access::{AgentName, Answer, ToolId, ToolsetName};

/// A person's switch for a toolset (W1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switched {
    /// Offered to nobody.
    Off,
    /// As the tables say.
    On,
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A command for the conversation that a person looks at: where another has come into view by then, it is not done, and
    /// what they said is given back.
    In {
        /// Its id.
        conversation: String,
        /// What.
        command: Box<Command>,
    },
    /// Say something to an agent of the conversation in view. To the entry agent it starts a turn or joins the running one; to
    /// a worker it joins its run, and is said to be undelivered where that has ended.
    Say {
        /// To whom.
        to: NodeId,
        /// The words.
        text: String,
    },
    /// Stop the running turn of the conversation in view, with all its workers.
    Stop,
    /// Stop one worker and those below it; who spawned it goes on with that result.
    StopAgent {
        /// Which.
        node: NodeId,
    },
    /// A person is here: a key was pressed (P12). Said every five seconds at most.
    Present,
    /// Answer a card. Only a person's answers are taken.
    Answer {
        /// Its conversation.
        conversation: String,
        /// The card's call.
        call: CallId,
        /// The answer.
        answer: Answer,
        /// The showing of the card that it is to. A yes to an earlier one counts for nothing.
        showing: u64,
    },
    /// Change what a card asks: what a person made of the arguments, as JSON text. It is checked and asked again (P16).
    Edit {
        /// Its conversation.
        conversation: String,
        /// The card's call.
        call: CallId,
        /// The arguments.
        arguments: String,
    },
    /// Begin a new conversation.
    New,
    /// Bring a stored conversation into view: an id or a unique prefix of at least 6 characters.
    Open {
        /// The id.
        id: String,
    },
    /// Bring a conversation into view that another program has open: its records as they are now, and nothing can be said.
    OpenReadOnly {
        /// The id.
        id: String,
    },
    /// Delete a stored conversation that is not running.
    Delete {
        /// The id.
        id: String,
    },
    /// Title the conversation in view.
    Rename {
        /// The title.
        title: String,
    },
    /// Ask for the list of conversations.
    List,
    /// Ask for a fresh report for F3 and F4.
    Report,
    /// Ask for the five answers for one tool of one agent, with every reason.
    Explain {
        /// The agent.
        agent: AgentName,
        /// The tool.
        tool: ToolId,
    },
    /// Switch a toolset off or on for everybody (W1), saved.
    Switch {
        /// Which.
        toolset: ToolsetName,
        /// Off or on.
        to: Switched,
    },
    /// Keep this theme for the next start.
    KeepTheme {
        /// A shipped theme's name.
        name: String,
    },
    /// Revoke a grant.
    Revoke {
        /// Its number.
        grant: u32,
    },
    /// Give the conversation in view another mode (W3); `None`: ask which there are.
    Mode {
        /// Its name.
        name: Option<String>,
    },
    /// Ask for diagnostics.
    Diagnostics,
    /// Leave: stop what runs, end open calls as interrupted, close the logs.
    Quit,
}
