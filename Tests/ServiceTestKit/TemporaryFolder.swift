import Glibc

/// A fresh private folder below `/tmp`, short enough for socket paths.
package struct TemporaryFolder: Sendable {
    package let path: String

    package init() {
        var template = Array("/tmp/fusion-kit-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { preconditionFailure("/tmp takes no folder") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// With every file in it; it holds no folders.
    package func remove() {
        guard let folder = opendir(path) else { return }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { unlink(path + "/" + name) }
        }
        closedir(folder)
        rmdir(path)
    }
}
