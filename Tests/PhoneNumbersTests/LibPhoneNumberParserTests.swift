import Effects
import PhoneNumbers
import Primitives
import Testing

@Suite struct LibPhoneNumberParserTests {
    private let parser = LibPhoneNumberParser()

    private func e164(_ text: String, _ region: String? = nil) -> String? {
        do throws(PhoneNumberProblem) {
            return try parser.parse(text, defaultRegion: region).number.e164
        } catch {
            return nil
        }
    }

    private func problem(_ text: String, _ region: String? = nil) -> PhoneNumberProblem? {
        do throws(PhoneNumberProblem) {
            _ = try parser.parse(text, defaultRegion: region)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "F069 F072 F079 one number has one form, however it is written",
        arguments: [
            ("+14155552671", nil, "+14155552671"),
            ("+1 (415) 555-2671", nil, "+14155552671"),
            ("(415) 555-2671", "US", "+14155552671"),
            ("415.555.2671", "us", "+14155552671"),
            ("tel 415", nil, nil),
            // Full-width, Arabic and Persian digits, and signs of other scripts.
            ("＋１４１５５５５２６７１", nil, "+14155552671"),
            ("（４１５）５５５－２６７１", "US", "+14155552671"),
            ("+٤٤٧٤٠٠١٢٣٤٥٦", nil, "+447400123456"),
            ("+۹۸۹۱۲۳۴۵۶۷۸۹", nil, "+989123456789"),
            ("+44\u{2011}7400\u{00A0}123456\u{200F}", nil, "+447400123456"),
            ("\u{202A}+447400123456\u{202C}", nil, "+447400123456"),
            // 00 for +, with and without a region, also where the region dials otherwise.
            ("008613800138000", nil, "+8613800138000"),
            ("0086 138 0013 8000", "DE", "+8613800138000"),
            ("0049 1767111638 0", "US", "+4917671116380"),
            ("011 49 17671116380", "US", "+4917671116380"),
            // The trunk zero goes, with and without its brackets.
            ("+32 0470 12 34 56", nil, "+32470123456"),
            ("+610412345678", nil, "+61412345678"),
            ("+61412345678", nil, "+61412345678"),
            ("+44 (0)7400 123456", nil, "+447400123456"),
            ("07400 123456", "GB", "+447400123456"),
            // … but not where it belongs to the number.
            ("+39 06 698 12345", nil, "+390669812345"),
            // The old mobile form of Mexico.
            ("+5215512345678", nil, "+525512345678"),
            ("+525512345678", nil, "+525512345678"),
            // A whole number pasted beside a country picker.
            ("+491767111638", "DE", "+491767111638"),
            ("00491767111638", "DE", "+491767111638"),
            ("+49+491767111638", "DE", "+491767111638"),
            ("+8613800138000", "US", "+8613800138000"),
            ("8613800138000", "CN", "+8613800138000"),
            // Hong Kong is not the mainland.
            ("+85251234567", nil, "+85251234567"),
        ] as [(String, String?, String?)])
    func forms(text: String, region: String?, expected: String?) {
        #expect(e164(text, region) == expected)
    }

    @Test(
        "what is not a number is refused by name",
        arguments: [
            ("", nil, .notANumber), ("hello", nil, .notANumber), ("+", nil, .notANumber),
            ("１-800-FLOWERS", "US", .notANumber),
            ("call +14155552671", nil, .notANumber),
            ("+14155552671 / +14155552672", nil, .notANumber),
            ("+1415555+2671", nil, .notANumber),
            ("+14155552671\u{0}", nil, .notANumber),
            ("+14155552671 ext. 12", nil, .hasExtension),
            ("+14155552671x12", nil, .hasExtension),
            ("+14155552671;ext=12", nil, .hasExtension),
            ("+99999", nil, .unknownCountry), ("+999123456789", nil, .unknownCountry),
            ("13800138000", nil, .unknownCountry), ("13800138000", "ZZ", .unknownCountry),
            ("13800138000", "CHN", .unknownCountry), ("13800138000", "é", .unknownCountry),
            ("+1415555267", nil, .tooShort), ("+88012345", nil, .tooShort),
            ("10086", "CN", .tooShort), ("+8610086", nil, .tooShort), ("110", "CN", .tooShort),
            ("911", "US", .tooShort), ("112", "DE", .tooShort),
            ("+141555526711", nil, .tooLong),
            ("+12345678901234567890", nil, .tooLong),
            (String(repeating: "1", count: 129), "US", .tooLong),
        ] as [(String, String?, PhoneNumberProblem)])
    func refusals(text: String, region: String?, expected: PhoneNumberProblem) {
        #expect(problem(text, region) == expected)
    }

    @Test("kind, region and code are told; North America cannot tell fixed from mobile")
    func classification() throws {
        let china = try parser.parse("+86 138 0013 8000", defaultRegion: nil)
        #expect(china.region == "CN" && china.countryCode == 86 && china.kind == .mobile)
        #expect(china.isKnownToPlan)
        let america = try parser.parse("+14155552671", defaultRegion: nil)
        #expect(america.region == "US" && america.kind == .fixedLineOrMobile)
        #expect(try parser.parse("+18002345678", defaultRegion: nil).kind == .other)
        #expect(try parser.parse("+442083661177", defaultRegion: nil).kind == .fixedLine)
        #expect(try parser.parse("+80012345678", defaultRegion: nil).region == nil)
    }

    @Test("a possible number that the plan does not know passes, and says so")
    func unknownToPlan() throws {
        let number = try parser.parse("+8614100138000", defaultRegion: nil)
        #expect(!number.isKnownToPlan)
        #expect(number.number.e164 == "+8614100138000")
        #expect(number.region == "CN")
    }

    @Test("a length that a plan gained later passes by the overrides, and only by them")
    func overrides() throws {
        let benin = try parser.parse("+229 01 95 12 34 56", defaultRegion: nil)
        #expect(benin.number.e164 == "+2290195123456")
        #expect(!benin.isKnownToPlan && benin.region == "BJ" && benin.kind == .fixedLineOrMobile)
        #expect(problem("+2290295123456") == .tooLong)
        #expect(throws: PhoneNumberProblem.tooLong) {
            try LibPhoneNumberParser(overrides: []).parse("+2290195123456", defaultRegion: nil)
        }
    }

    @Test("results are kept up to a bound, and a full cache still answers right")
    func cache() throws {
        let small = LibPhoneNumberParser(cachedCountMax: 2)
        for _ in 0..<2 {
            for last in 0...9 {
                let text = "+1415555267\(last)"
                #expect(try small.parse(text, defaultRegion: nil).number.e164 == text)
                #expect(throws: PhoneNumberProblem.notANumber) {
                    try small.parse("no", defaultRegion: nil)
                }
            }
        }
        // The region is part of the question.
        #expect(try small.parse("07400123456", defaultRegion: "GB").number.e164 == "+447400123456")
        #expect(throws: PhoneNumberProblem.self) {
            try small.parse("07400123456", defaultRegion: "US")
        }
    }

    @Test("text from many threads at once is read right")
    func threads() async {
        let parser = self.parser
        let wrong = await withTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    (0..<200).count { number in
                        let text = "+86138001\(task)8\(100 + number)"
                        let parsed = try? parser.parse(text, defaultRegion: nil)
                        return parsed?.number.e164 != text
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }

    @Test("a service's failure names the field and holds no digit of the number")
    func failure() {
        do throws(ServiceFailure) {
            _ = try parser.number("+1415555267", field: "phoneNumber")
            Issue.record("a short number passed")
        } catch {
            #expect(error.code == .numberInvalid && error.field == "phoneNumber")
            #expect(!error.message.contains("415"))
        }
    }
}
