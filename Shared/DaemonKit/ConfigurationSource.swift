package import Effects

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Where a setting's value came from.
package enum SettingOrigin: Hashable, Sendable, CustomStringConvertible {
    case standard
    case file(name: String, line: Int)
    case variable(String)
    case flag

    package var description: String {
        switch self {
        case .standard: "default"
        case .file(let name, let line): line > 0 ? "\(name), line \(line)" : name
        case .variable(let name): "$\(name)"
        case .flag: "--set"
        }
    }
}

/// One setting as it is in effect. A secret's value is not in here.
package struct EffectiveSetting: Hashable, Sendable {
    /// Without the section: `limits.sendsPerHourMax`.
    package let path: String
    /// As TOML writes it; `"<secret>"` for a secret.
    package let value: String
    package let origin: SettingOrigin
    /// Whole numbers and flags: what a start line shows.
    package let isLimit: Bool
}

package struct ConfigurationReading<Configuration: DaemonConfiguration>: Sendable {
    package let configuration: Configuration
    /// Everything wrong, one line each; the configuration may be used only when this is empty.
    package let problems: [String]
    package let settings: [EffectiveSetting]
}

/// The layers of configuration of one start: flags over variables over file over defaults.
package struct ConfigurationSource: Sendable {
    /// Sections of the file that some daemon reads; any other name is a typing mistake and refused.
    package static let sectionsKnown = [
        "daemon", "bus", "store", "broker", "token", "verification", "smscode", "scene", "gateway",
        "sandbox", "echo", "control",
    ]
    private static let productionKey = "production"

    private let document: TomlDocument
    private let fileName: String
    private let environment: [String: String]
    private let assignments: [(path: [String], text: String)]
    /// Wrong with the file as a whole, or with `--set`.
    package let problems: [String]
    package let isProduction: Bool

    /// - Parameter isFileRequired: whether an absent file is a problem (`--config` named it).
    /// - Parameter assignments: `section.field=value`, later ones over earlier ones.
    package init(
        file: String, isFileRequired: Bool, environment: [String: String] = [:],
        assignments: [String] = []
    ) {
        var problems: [String] = []
        fileName = file
        self.environment = environment
        do throws(ReadProblem) {
            document = try Self.load(file, isRequired: isFileRequired)
        } catch {
            document = .empty
            problems.append("\(file): \(error.message)")
        }
        var paths: [(path: [String], text: String)] = []
        for assignment in assignments {
            let parts = assignment.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let path = (parts.first ?? "").split(separator: ".").map(String.init)
            guard parts.count == 2, let text = parts.last, path.count >= 2 || path == ["production"]
            else {
                problems.append("--set \(parts.first ?? ""): write it as section.field=value")
                continue
            }
            paths.append((path, String(text)))
        }
        self.assignments = paths
        let (isProduction, productionProblem) = Self.production(
            document, environment: environment, assignments: paths)
        self.isProduction = isProduction
        if let productionProblem { problems.append(productionProblem) }
        self.problems = problems + Self.unknownSections(document, paths, file)
    }

    /// Reads one section with all layers.
    package func read<C: DaemonConfiguration>(_ type: C.Type) -> ConfigurationReading<C> {
        let section = C.section
        let defaults = ConfigurationValue(encoding: C())
        let probe = ConfigurationTrace()
        _ = try? C(
            from: ConfigurationDecoder(overlay: nil, fallback: defaults, path: "", trace: probe))

        var overlay = document.value[section] ?? .object([:])
        var origins: [String: SettingOrigin] = [:]
        var problems: [String] = []
        if case .object = overlay {
        } else {
            problems.append("\(section): must be a table")
            overlay = .object([:])
        }
        applyVariables(section, probe, &overlay, &origins, &problems)
        for assignment in assignments where assignment.path.first == section {
            let path = assignment.path.dropFirst()
            overlay = overlay.setting(.word(assignment.text), at: path)
            origins[path.joined(separator: ".")] = .flag
        }

        let trace = ConfigurationTrace()
        let decoder = ConfigurationDecoder(
            overlay: overlay, fallback: defaults, path: "", trace: trace)
        let configuration = (try? C(from: decoder)) ?? C()
        for (path, message) in trace.faults {
            problems.append("\(section).\(path) \(message)\(place(section, path, origins))")
        }
        for path in trace.unaskedPaths(in: overlay, at: "") {
            problems.append(
                "\(section).\(path) is no setting\(suggestion(path, trace))"
                    + place(section, path, origins))
        }
        // Values that did not even decode would only be judged by their defaults.
        if problems.isEmpty {
            problems += configuration.problems(isProduction: isProduction).map {
                "\(section).\($0)"
            }
        }
        return ConfigurationReading(
            configuration: configuration, problems: problems,
            settings: settings(configuration, trace, overlay, origins))
    }
}

// MARK: Layers

extension ConfigurationSource {
    private struct ReadProblem: Error { let message: String }

    private static func load(_ path: String, isRequired: Bool) throws(ReadProblem) -> TomlDocument {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT, !isRequired { return .empty }
            throw ReadProblem(message: String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: TomlDocument.bytesMax + 1)
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
                return Glibc.read(descriptor, rest.baseAddress, rest.count)
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw ReadProblem(message: String(cString: strerror(errno))) }
            if got == 0 { break }
            count += got
        }
        guard count <= TomlDocument.bytesMax else {
            throw ReadProblem(message: "has more than \(TomlDocument.bytesMax) bytes")
        }
        guard let text = String(validating: bytes[..<count], as: UTF8.self) else {
            throw ReadProblem(message: "is not UTF-8")
        }
        do throws(TomlDocument.Fault) {
            return try TomlDocument(text)
        } catch {
            throw ReadProblem(message: "\(error)")
        }
    }

    private static func production(
        _ document: TomlDocument, environment: [String: String],
        assignments: [(path: [String], text: String)]
    ) -> (Bool, String?) {
        var found = document.value[productionKey] ?? .flag(false)
        if let text = environment["FUSION_PRODUCTION"] { found = .word(text) }
        for assignment in assignments where assignment.path == [productionKey] {
            found = .word(assignment.text)
        }
        switch found {
        case .flag(let flag): return (flag, nil)
        case .word("true"): return (true, nil)
        case .word("false"): return (false, nil)
        // A mistake here must not open what production closes.
        default: return (true, "production must be true or false, not \(found.kindText)")
        }
    }

    private static func unknownSections(
        _ document: TomlDocument, _ assignments: [(path: [String], text: String)], _ file: String
    ) -> [String] {
        var names: [(name: String, place: String)] = assignments.compactMap { assignment in
            assignment.path.first.map { ($0, "--set") }
        }
        if case .object(let fields) = document.value {
            names += fields.keys.sorted().map { ($0, "\(file), line \(document.lines[$0] ?? 0)") }
        }
        return names.compactMap { name, place in
            guard name != productionKey, !sectionsKnown.contains(name) else { return nil }
            let near = nearest(name, among: sectionsKnown + [productionKey])
            return "\(name) is no section\(near.map { "; is \($0) meant?" } ?? "") (\(place))"
        }
    }

    private func applyVariables(
        _ section: String, _ probe: ConfigurationTrace, _ overlay: inout ConfigurationValue,
        _ origins: inout [String: SettingOrigin], _ problems: inout [String]
    ) {
        let prefix = "FUSION_\(section.uppercased())_"
        var paths: [String: String] = [:]
        for field in probe.fields { paths[prefix + Self.variableTail(field.path)] = field.path }
        for name in environment.keys.sorted() where name.hasPrefix(prefix) {
            guard let path = paths[name], let text = environment[name] else {
                let near = Self.nearest(name, among: paths.keys.sorted())
                problems.append(
                    "$\(name) names no setting\(near.map { "; is $\($0) meant?" } ?? "")")
                continue
            }
            overlay = overlay.setting(
                .word(text), at: path.split(separator: ".").map(String.init)[...])
            origins[path] = .variable(name)
        }
    }

    /// `limits.sendsPerHourMax` → `LIMITS_SENDS_PER_HOUR_MAX`.
    private static func variableTail(_ path: String) -> String {
        var tail = ""
        for character in path {
            if character == "." {
                tail.append("_")
            } else {
                if character.isUppercase, let last = tail.last, last != "_" { tail.append("_") }
                tail += character.uppercased()
            }
        }
        return tail
    }
}

// MARK: Telling

extension ConfigurationSource {
    private func place(
        _ section: String, _ path: String, _ origins: [String: SettingOrigin]
    ) -> String {
        let origin = origin(section, path, origins)
        return origin == .standard ? "" : " (\(origin))"
    }

    private func origin(
        _ section: String, _ path: String, _ origins: [String: SettingOrigin]
    ) -> SettingOrigin {
        if let origin = origins[path] { return origin }
        if let line = document.lines["\(section).\(path)"] {
            return .file(name: fileName, line: line)
        }
        return .standard
    }

    private func suggestion(_ path: String, _ trace: ConfigurationTrace) -> String {
        let near = Self.nearest(path, among: trace.fields.map(\.path))
        return near.map { "; is \($0) meant?" } ?? ""
    }

    /// The name with the fewest changed letters, at most three.
    private static func nearest(_ name: String, among names: [String]) -> String? {
        let ranked = names.map {
            (name: $0, distance: distance(name.lowercased(), $0.lowercased()))
        }
        let best = ranked.min { $0.distance < $1.distance }
        return best.flatMap { $0.distance <= 3 ? $0.name : nil }
    }

    private static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right.utf8)
        var row = Array(0...right.count)
        for (index, letter) in left.utf8.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (place, other) in right.enumerated() {
                let changed = letter == other ? diagonal : diagonal + 1
                diagonal = row[place + 1]
                row[place + 1] = min(changed, row[place] + 1, row[place + 1] + 1)
            }
        }
        return row.last ?? 0
    }

    private func settings<C: DaemonConfiguration>(
        _ configuration: C, _ trace: ConfigurationTrace, _ overlay: ConfigurationValue,
        _ origins: [String: SettingOrigin]
    ) -> [EffectiveSetting] {
        let tree = ConfigurationValue(encoding: configuration) ?? .object([:])
        return trace.fields.compactMap { field -> EffectiveSetting? in
            // Fields of lists, and of dictionaries, show as part of those.
            guard !field.path.contains("["), !isInside(field.path, trace) else { return nil }
            var value: ConfigurationValue? = tree
            for name in field.path.split(separator: ".") { value = value?[String(name)] }
            let isTable = trace.fields.contains { $0.path.hasPrefix(field.path + ".") }
            if isTable, !trace.isClosed(field.path) { return nil }
            let isSecret = trace.fields.contains {
                $0.isSecret
                    && ($0.path == field.path || $0.path.hasPrefix(field.path + ".")
                        || $0.path.hasPrefix(field.path + "["))
            }
            let origin = origin(C.section, field.path, origins)
            guard let value else {
                return EffectiveSetting(
                    path: field.path, value: "(none)", origin: origin, isLimit: false)
            }
            var isLimit = false
            switch value {
            case .integer, .number, .flag: isLimit = !isSecret
            default: break
            }
            return EffectiveSetting(
                path: field.path, value: isSecret ? "\"<secret>\"" : value.text, origin: origin,
                isLimit: isLimit)
        }
    }

    private func isInside(_ path: String, _ trace: ConfigurationTrace) -> Bool {
        var parts = path.split(separator: ".")
        while parts.count > 1 {
            parts.removeLast()
            if trace.isClosed(parts.joined(separator: ".")) { return true }
        }
        return false
    }
}
