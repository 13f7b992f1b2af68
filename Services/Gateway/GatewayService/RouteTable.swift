/// Finds the routes of a path without trying each one.
struct RouteTable: Sendable {
    typealias Candidate = (route: Route, values: [String: String])

    /// By their path, where it has no names.
    private let plain: [String: [Route]]
    /// By the number of their segments, where it has.
    private let named: [Int: [Route]]

    init(_ routes: [Route]) {
        plain = Dictionary(
            grouping: routes.filter { $0.pattern.literal != nil },
            by: { $0.pattern.literal ?? "" })
        named = Dictionary(
            grouping: routes.filter { $0.pattern.literal == nil },
            by: { $0.pattern.segmentsCount })
    }

    /// Those whose path fits, of any method; paths without names first.
    func candidates(_ path: String) -> [Candidate] {
        var found: [Candidate] = (plain[path] ?? []).map { ($0, [:]) }
        if let named = named[PathPattern.segmentsCount(path)] {
            let segments = PathPattern.segments(path)
            for route in named {
                if let values = route.pattern.match(segments) { found.append((route, values)) }
            }
        }
        return found
    }
}
