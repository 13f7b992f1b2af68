import DaemonKit
import Glibc
import Primitives

/// A folder of mode 0700 that goes, with everything in it, when its last owner does.
final class TemporaryFolder: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/fusion-kit-XXXXXX".utf8CString)
        path = mkdtemp(&template).map { String(cString: $0) } ?? "/nonexistent"
    }

    deinit { Self.remove(path) }

    private static func remove(_ path: String) {
        for name in names(path) {
            let inner = "\(path)/\(name)"
            if unlink(inner) != 0 { remove(inner) }
        }
        rmdir(path)
    }

    static func names(_ path: String) -> [String] {
        var names: [String] = []
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    func write(_ text: String, to name: String) {
        let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        let bytes = Array(text.utf8)
        _ = Glibc.write(descriptor, bytes, bytes.count)
        close(descriptor)
    }

    func read(_ name: String) -> String { readFile("\(path)/\(name)") }
}

func readFile(_ path: String) -> String {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var text: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 65536)
    while true {
        let count = read(descriptor, &bytes, bytes.count)
        if count <= 0 { break }
        text += bytes[..<count]
    }
    return String(decoding: text, as: UTF8.self)
}

/// The executable beside this test bundle.
func builtProduct(_ name: String) -> String {
    var bytes = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &bytes, bytes.count)
    let path = String(
        decoding: bytes.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let folder = path.split(separator: "/").dropLast().joined(separator: "/")
    // The tests run in a helper of the toolchain where that loads the bundle; then its path is an
    // argument.
    let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") }
    let bundleFolder = bundle.map { $0.split(separator: "/").dropLast().joined(separator: "/") }
    for candidate in [bundleFolder, folder] {
        if let candidate, access("/\(candidate)/\(name)", X_OK) == 0 {
            return "/\(candidate)/\(name)"
        }
    }
    return "/nonexistent/\(name)"
}

/// Limits under which a child that ended stays ended.
func onceOnly(drainMax: Duration = .seconds(12)) -> SupervisorLimits {
    var limits = SupervisorLimits()
    limits.backoffMin = .seconds(3600)
    limits.backoffMax = .seconds(3600)
    limits.drainMax = drainMax
    return limits
}

/// One child run to its end. `react` may drain or signal while it runs.
func runChild(
    _ plan: ChildPlan, limits: SupervisorLimits = onceOnly(),
    environment: [String: String] = ["PATH": "/usr/bin:/bin"],
    _ react: (SupervisorEvent, Supervisor, Int32) -> Void = { _, _, _ in }
) async -> [SupervisorEvent] {
    let (supervisor, events) = Supervisor.events([plan], limits: limits, environment: environment)
    var seen: [SupervisorEvent] = []
    var processID: Int32 = 0
    for await event in events {
        seen.append(event)
        if case .started(_, let id) = event { processID = id }
        react(event, supervisor, processID)
        if case .ended = event { supervisor.drain() }
    }
    return seen
}

func lines(_ events: [SupervisorEvent]) -> [String] {
    events.compactMap { event in
        if case .line(_, let text) = event { return text }
        return nil
    }
}

func ends(_ events: [SupervisorEvent]) -> [ChildEnd] {
    events.compactMap { event in
        if case .ended(_, let end) = event { return end }
        return nil
    }
}

func shell(_ name: String, _ script: String) -> ChildPlan {
    ChildPlan(name: name, executable: "/bin/sh", arguments: ["-c", script])
}
