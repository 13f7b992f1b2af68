import Effects

/// Whether the file works, told once at each change.
struct StoreHealth {
    private let log: Log
    private var problem: StoreProblem?

    init(log: Log) { self.log = log }

    /// - Parameters:
    ///   - problem: the first one that a group met; nil when it met none.
    ///   - wasWritten: whether its commit changed a row.
    mutating func note(_ problem: StoreProblem?, wasWritten: Bool) {
        if let problem {
            guard problem.label != self.problem?.label else { return }
            // The one that only a restart ends is the one to know of.
            if self.problem?.end == .restart, problem.end != .restart { return }
            self.problem = problem
            log.error(
                "the store does not work",
                ["problem": .text(problem.label), "reason": .text(problem.description)])
        } else if let known = self.problem, known.isOver(wasWritten: wasWritten) {
            self.problem = nil
            log.info("the store works again", ["problem": .text(known.label)])
        }
    }
}

extension StoreProblem {
    fileprivate func isOver(wasWritten: Bool) -> Bool {
        switch end {
        case .anyGroup: true
        case .writtenGroup: wasWritten
        case .restart: false
        }
    }
}
