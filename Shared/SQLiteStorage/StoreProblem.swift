import CSQLite
package import Primitives

/// What can be wrong with the file of a store. The thread lives on; each decision is told.
package enum StoreProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process held the file longer than `SQLiteLimits.waitMax`.
    case busy
    case diskFull
    /// The file, its folder or the file system cannot be written.
    case readOnly
    /// The folder is missing, or this user may not open the file.
    case cannotOpen
    /// Not a database, or a page of it is broken.
    case damaged
    /// The file was written by a newer version of this service.
    case newerVersion
    /// The file was given another layout since this process opened it.
    case layoutChanged
    /// A declared table or index name that SQL could not carry.
    case badName
    /// The system failed to read or write; SQLite's extended result code.
    case inputOutput(Int32)
    /// Any other extended result code.
    case other(Int32)

    init(code: Int32) {
        switch code & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy
        case SQLITE_FULL: self = .diskFull
        case SQLITE_READONLY, SQLITE_PERM: self = .readOnly
        case SQLITE_CANTOPEN: self = .cannotOpen
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .damaged
        case SQLITE_IOERR: self = .inputOutput(code)
        default: self = .other(code)
        }
    }

    /// What happened, and what an operator can do.
    package var description: String {
        switch self {
        case .busy: "another process holds the store; it is retried"
        case .diskFull: "the disk of the store is full; free some space"
        case .readOnly:
            "the store cannot be written; check owner and mode of the file and its folder"
        case .cannotOpen: "the store cannot be opened; check that its folder exists and who owns it"
        case .damaged: "the store's file is damaged or not a database; restore it from a backup"
        case .newerVersion: "the store was written by a newer version; run that version"
        case .layoutChanged: "the store was upgraded by a newer version; restart this daemon"
        case .badName: "a table or index name is not lower case letters, digits and _"
        case .inputOutput(let code): "reading or writing the store failed (SQLite code \(code))"
        case .other(let code): "the store failed (SQLite code \(code))"
        }
    }

    /// For metrics.
    var label: String {
        switch self {
        case .busy: "busy"
        case .diskFull: "disk_full"
        case .readOnly: "read_only"
        case .cannotOpen: "cannot_open"
        case .damaged: "damaged"
        case .newerVersion: "newer_version"
        case .layoutChanged: "layout_changed"
        case .badName: "bad_name"
        case .inputOutput: "input_output"
        case .other: "other"
        }
    }

    /// What shows that it is over. A broken page is not read by every decision, so that the decisions
    /// that succeed prove nothing; a new start does.
    var end: End {
        switch self {
        case .busy, .badName, .other: .anyGroup
        case .diskFull, .readOnly, .cannotOpen, .inputOutput: .writtenGroup
        case .damaged, .newerVersion, .layoutChanged: .restart
        }
    }

    enum End { case anyGroup, writtenGroup, restart }

    /// For the caller of a decision: it may repeat; only busy passes by itself.
    package var failure: ServiceFailure {
        ServiceFailure(
            .unavailable, description, retryAfterMilliseconds: self == .busy ? 100 : nil)
    }
}
