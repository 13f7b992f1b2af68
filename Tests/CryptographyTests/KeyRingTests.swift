import Cryptography
import Effects
import Glibc
import Testing

@Suite struct KeyRingTests {
    private let folder = TemporaryFolder()
    private var file: KeyRingFile { KeyRingFile(path: folder.path + "/ring") }

    @Test("a new ring is private, has version 1, and a second creation is refused")
    func creation() throws {
        try file.create()
        var status = stat()
        #expect(stat(file.path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(try KeyRing(path: file.path).versions == [1])
        #expect(throws: KeyRingProblem.alreadyThere(path: file.path)) { try file.create() }
        #expect(folder.names == ["ring"], "no draft is left behind")
    }

    @Test("of many who create at once, all end with the same key")
    func creationRace() async throws {
        let file = self.file
        let digests = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<16 {
                group.addTask {
                    let digest = SodiumKeyedDigest(try file.loadOrCreate(), purpose: "race")
                    return digest.digest("x").bytes
                }
            }
            var digests: Set<[UInt8]> = []
            for try await digest in group { digests.insert(digest) }
            return digests
        }
        #expect(digests.count == 1)
    }

    @Test("a ring that others may read, or in a folder that others may enter, is refused")
    func rights() throws {
        try file.create()
        chmod(file.path, 0o640)
        #expect(throws: KeyRingProblem.openToOthers(path: file.path)) {
            try KeyRing(path: file.path)
        }
        chmod(file.path, 0o600)
        chmod(folder.path, 0o711)
        #expect(throws: KeyRingProblem.openToOthers(path: folder.path)) {
            try KeyRing(path: file.path)
        }
        chmod(folder.path, 0o700)
        #expect(throws: Never.self) { try KeyRing(path: file.path) }
    }

    @Test(
        "a line that is not a version and 32 bytes is refused by its number",
        arguments: [
            "0 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "1", "1 AAAA",
            "1 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "x AAAA",
            "65536 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "1 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB",
            "7 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        ])
    func malformed(line: String) {
        folder.write(
            "# a ring\n7 AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n\(line)\n", to: "ring")
        #expect(throws: KeyRingProblem.malformed(path: file.path, line: 3)) {
            try KeyRing(path: file.path)
        }
    }

    @Test("an absent and an empty ring have errors of their own")
    func absent() {
        #expect(throws: KeyRingProblem.missing(path: file.path)) { try KeyRing(path: file.path) }
        folder.write("# nothing\n\n", to: "ring")
        #expect(throws: KeyRingProblem.empty(path: file.path)) { try KeyRing(path: file.path) }
    }

    @Test(
        "rotation: new values name the new version, old ones stay readable until theirs is removed")
    func rotation() throws {
        try file.create()
        let ring = try KeyRing(path: file.path)
        let sealer = SodiumSealer(ring, purpose: "number")
        let digest = SodiumKeyedDigest(ring, purpose: "mask")
        let oldSealed = sealer.seal([1, 2, 3], context: "row")
        let oldDigest = digest.digest("value")

        #expect(try file.addVersion() == 2)
        try ring.reload()
        #expect(digest.digest("value").version == 2)
        #expect(digest.digest("value").bytes != oldDigest.bytes)
        #expect(digest.matches(Array("value".utf8), oldDigest))
        #expect(sealer.open(oldSealed, context: "row") == [1, 2, 3])
        #expect(sealer.seal([9], context: "row")[2] == 2)

        #expect(throws: KeyRingProblem.cannotRemove(path: file.path, version: 2)) {
            try file.removeVersion(2)
        }
        try file.removeVersion(1)
        try ring.reload()
        #expect(sealer.open(oldSealed, context: "row") == nil)
        #expect(digest.digest([], version: 1) == nil)
        #expect(!digest.matches(Array("value".utf8), oldDigest))
    }

    @Test("rotations at the same time each add a version")
    func parallelRotation() async throws {
        try file.create()
        let file = self.file
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { try file.addVersion() } }
            try await group.waitForAll()
        }
        #expect(try KeyRing(path: file.path).versions == Array(1...9))
    }

    @Test("a value of a version that another instance made is read without a reload")
    func lookAgain() throws {
        try file.create()
        let here = SodiumSealer(try KeyRing(path: file.path), purpose: "number")
        try file.addVersion()
        let there = SodiumSealer(try KeyRing(path: file.path), purpose: "number")
        #expect(here.open(there.seal([5], context: "row"), context: "row") == [5])
    }

    @Test(
        "a reload that changes a known key, or loses the current one, is refused without effect"
    )
    func changedKey() throws {
        try file.create()
        let ring = try KeyRing(path: file.path)
        let digest = SodiumKeyedDigest(ring, purpose: "mask")
        let before = digest.digest("value")
        let other = TemporaryFolder()
        try KeyRingFile(path: other.path + "/ring").create()
        folder.write(other.read("ring"), to: "ring")
        #expect(throws: KeyRingProblem.changedKey(path: file.path)) { try ring.reload() }
        folder.write("2 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n", to: "ring")
        #expect(throws: KeyRingProblem.changedKey(path: file.path)) { try ring.reload() }
        #expect(digest.digest("value") == before)
    }
}
