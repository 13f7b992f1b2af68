import Foundation
import FusionAuth
import Testing

@Suite("Looks of the pages")
struct PageModelTests {
    @Test("every property goes through JSON, and what JSON leaves out keeps its default")
    func json() throws {
        var model = NumberAuthPageModel()
        model.customViewName = "banner"
        model.privacyAgreements = [FusionAuthAgreement("Terms", "https://example.com/t")]
        model.navColor = FusionAuthColor(0x123456, alpha: 0.5)
        let data = try JSONEncoder().encode(model)
        #expect(try JSONDecoder().decode(NumberAuthPageModel.self, from: data) == model)
        let fields = try #require(
            JSONSerialization.jsonObject(with: data) as? [String: Any])
        let properties = Mirror(reflecting: model).children.compactMap(\.label)
        #expect(Set(fields.keys) == Set(properties))
        let sparse = Data(##"{"navColor":"#000000","logoIsHidden":false}"##.utf8)
        var expected = NumberAuthPageModel()
        expected.navColor = .black
        expected.logoIsHidden = false
        #expect(try JSONDecoder().decode(NumberAuthPageModel.self, from: sparse) == expected)
    }

    @Test("each property is read under its own name")
    func eachProperty() throws {
        let defaults = try #require(
            JSONSerialization.jsonObject(with: JSONEncoder().encode(NumberAuthPageModel()))
                as? [String: Any])
        for (name, value) in defaults {
            let changed = try #require(Self.other(than: value), "\(name)")
            let json = try JSONSerialization.data(withJSONObject: [name: changed])
            let model = try JSONDecoder().decode(NumberAuthPageModel.self, from: json)
            let written = try #require(
                JSONSerialization.jsonObject(with: JSONEncoder().encode(model))
                    as? [String: Any])
            for (other, text) in written {
                let isSame = try Self.text(text) == Self.text(defaults[other] ?? "")
                #expect(isSame == (other != name), "\(name) → \(other)")
            }
        }
    }

    private static func text(_ value: Any) throws -> Data {
        try JSONSerialization.data(withJSONObject: [value], options: .sortedKeys)
    }

    /// Another value of the same kind.
    private static func other(than value: Any) -> Any? {
        switch value {
        case let text as String:
            return text.hasPrefix("#") ? "#ABCDEF" : other(thanWord: text)
        case let number as NSNumber:
            return isFlag(number) ? !number.boolValue : number.doubleValue + 1
        case let list as [Any]:
            if list.first is String, list.first as? String == "portrait" {
                return ["landscapeLeft"]
            }
            if list.first is NSNumber { return [1.0] }
            return list.isEmpty ? [["name": "a", "url": "b"]] : ["; "]
        case let object as [String: Any]:
            guard let (key, inner) = object.sorted(by: { $0.key < $1.key }).first,
                let changed = other(than: inner)
            else { return nil }
            return object.merging([key: changed]) { $1 }
        default: return nil
        }
    }

    private static func other(thanWord text: String) -> String {
        ["bottom": "left", "otherLogin": "none", "regular": "bold"][text] ?? text + "x"
    }

    private static func isFlag(_ number: NSNumber) -> Bool {
        String(cString: number.objCType) == "c" || "\(number)" == "true" || "\(number)" == "false"
    }

    @Test("colours are #RRGGBB or #RRGGBBAA, and nothing else")
    func colors() throws {
        #expect(FusionAuthColor(0x0064C8).text == "#0064C8")
        #expect(FusionAuthColor(0x262626, alpha: 0.88).text == "#262626E0")
        #expect(FusionAuthColor(text: "#0a0B0c80")?.text == "#0A0B0C80")
        for text in ["", "#", "0064C8", "#0064C", "#0064C8F", "#00 4C8", "#+064C8", "#GG64C8"] {
            #expect(FusionAuthColor(text: text) == nil, "\(text)")
        }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(FusionAuthColor.self, from: Data(#""blue""#.utf8))
        }
    }

    @Test("the demo's frames, laid out on a screen")
    func frames() {
        let screen = FusionAuthSize(390, 844)
        let natural = FusionAuthRect(x: 1, y: 2, width: 100, height: 20)
        let model = NumberAuthPageModel()
        #expect(
            model.numberFrame.rect(in: screen, natural: natural)
                == FusionAuthRect(x: 145, y: 214, width: 100, height: 20))
        #expect(
            model.loginButtonFrame.rect(in: screen, natural: natural)
                == FusionAuthRect(x: 16, y: 318, width: 358, height: 44))
        #expect(
            model.privacyFrame.rect(in: screen, natural: natural)
                == FusionAuthRect(x: 16, y: 764, width: 358, height: 20))
        let alert = model.privacyAlertFrame.rect(in: screen, natural: natural)
        #expect(alert.x == 27 && alert.width == 336 && alert.height == 200)
        #expect(abs(alert.y - 0.382 * 644) < 0.001)
        #expect(FusionAuthFrame().rect(in: screen, natural: natural) == natural)
    }

    @Test("the sentence at the box puts the carrier's agreement at its place")
    func privacy() {
        var model = NumberAuthPageModel()
        model.privacyAgreements = [
            FusionAuthAgreement("A", "a"), FusionAuthAgreement("B", "b"),
        ]
        let carrier = FusionAuthAgreement("Carrier", "c")
        #expect(
            model.privacySentence(carrier: carrier)
                == "I have read and agree to A, B and Carrier")
        model.privacyOperatorIndex = 0
        model.privacyOperatorPrefix = "<"
        model.privacyOperatorSuffix = ">"
        #expect(
            model.privacySentence(carrier: carrier)
                == "I have read and agree to <Carrier>, A and B")
        #expect(model.privacySentence(carrier: nil) == "I have read and agree to A and B")
    }
}
