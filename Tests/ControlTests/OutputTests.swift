import Testing

@testable import FusionctlCommands

@Suite("Tables and JSON")
struct OutputTests {
    @Test("members keep their order, and text is escaped as RFC 8259 asks")
    func json() {
        let value = JSONValue.object([
            "z": .integer(1), "a": .text("q\"\\\n\u{1}é"), "n": .null, "d": .number(1.5),
            "l": .list([.flag(true), .object([])]),
        ])
        #expect(
            value.compact == #"{"z":1,"a":"q\"\\\n\u0001é","n":null,"d":1.5,"l":[true,{}]}"#)
        #expect(JSONValue.list([]).pretty == "[]")
        #expect(
            JSONValue.object(["a": .list([.integer(1)])]).pretty == "{\n  \"a\": [\n    1\n  ]\n}")
    }

    @Test("what was written can be read, and what is no JSON cannot")
    func reading() throws {
        let text = #"{"b":[1,2.5,null,"x",{"k":true}],"a":-9007199254740993}"#
        let value = try #require(JSONValue(Array(text.utf8)))
        #expect(value["a"] == .integer(-9_007_199_254_740_993))
        #expect(JSONValue(Array(value.compact.utf8)) == value)
        #expect(JSONValue(Array("{".utf8)) == nil)
        #expect(JSONValue([]) == nil)
    }

    @Test("columns are as wide as their widest cell, also in Chinese")
    func table() {
        var table = Table(["NAME", "N"])
        table.add(["示例", "1"])
        table.add(["a longer name", "22"])
        #expect(table.text == "NAME           N\n示例           1\na longer name  22")
    }

    @Test("an answer shows as name and value, its lists of objects as tables of their own")
    func people() {
        let answer = JSONValue.object([
            "name": .text("x"), "app": .object(["id": .integer(7)]), "none": .null,
            "rows": .list([
                .object(["k": .text("a")]), .object(["k": .text("b"), "v": .flag(true)]),
            ]),
        ])
        #expect(
            Rendering.people(answer)
                == "name    x\napp.id  7\nnone    –\n\nrows\nk  v\na  –\nb  true")
        #expect(Rendering.people(.object([])) == "done")
    }
}
