import Testing

@testable import FusionctlCommands

@Suite("Command lines")
struct ArgumentsTests {
    private let syntax = CommandSyntax(
        "thing do", operands: ["NAME"], optional: ["MORE"],
        options: [.value("size", "N", ""), .flag("fast", ""), .value("tags", "A,…", "")], "")

    private func read(_ words: String...) throws -> Arguments { try Arguments(words, syntax) }

    private func complaint(_ words: String...) -> CommandFailure? {
        do {
            _ = try Arguments(words, syntax)
            return nil
        } catch {
            return error
        }
    }

    @Test("options and operands mix, with a value attached or apart")
    func mixed() throws {
        let arguments = try read("--size=3", "a", "--fast", "--tags", "x,y", "b")
        #expect(arguments.operands == ["a", "b"])
        #expect(try arguments.integer("size", in: 1...5) == 3)
        #expect(arguments.has("fast"))
        #expect(arguments.list("tags") == ["x", "y"])
        #expect(arguments["home"] == nil)
    }

    @Test("after -- everything is an operand, and a value may hold an equals sign")
    func ended() throws {
        #expect(try read("--", "--size", "--fast").operands == ["--size", "--fast"])
        #expect(try read("a", "--size=x=y")["size"] == "x=y")
    }

    @Test("a lone dash is an operand")
    func dash() throws { #expect(try read("-").operands == ["-"]) }

    @Test("every mistake is named, with the usage and the status of a usage error")
    func mistakes() {
        #expect(complaint()?.message == "NAME is missing")
        #expect(complaint("a", "b", "c")?.message == "“c” is too much")
        #expect(complaint("a", "--sise", "3")?.message == "there is no option --sise")
        #expect(complaint("a", "--size")?.message == "--size needs its N")
        #expect(complaint("a", "--fast=yes")?.message == "--fast takes no value")
        #expect(complaint("a", "--fast", "--fast")?.message == "--fast was given twice")
        #expect(complaint("a", "--size", "1", "--size=2")?.message == "--size was given twice")
        #expect(complaint()?.status == .usage)
        #expect(complaint()?.next?.contains("fusionctl thing do NAME [MORE]") == true)
    }

    @Test("--help needs no operand")
    func help() throws { #expect(try read("--help").has("help")) }

    @Test("a number outside its range is refused with the range")
    func range() throws {
        let arguments = try read("a", "--size", "9")
        #expect(throws: CommandFailure.self) { try arguments.integer("size", in: 1...5) }
        let words = try read("a", "--size", "many")
        #expect(throws: CommandFailure.self) { try words.integer("size", in: 1...5) }
    }

    @Test("no two commands have the same words, and none is hidden behind a shorter one")
    func commands() {
        let lines = Fusionctl.commands.map { $0.syntax.words.joined(separator: " ") }
        #expect(Set(lines).count == lines.count)
        for command in Fusionctl.commands {
            let words = command.syntax.words
            let longest = Fusionctl.commands.filter { words.starts(with: $0.syntax.words) }
                .max { $0.syntax.words.count < $1.syntax.words.count }
            #expect(longest?.syntax.words == words)
        }
    }
}
