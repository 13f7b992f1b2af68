import Primitives

/// Judges text that a caller may choose freely: a message for a code carries no link, and nothing
/// that reads otherwise than it is written. A scheme's own wordings and signatures are its owner's
/// word, judged where they are stored.
///
/// A handset makes a link of much that is none by any standard, so it is the look that counts:
/// look-alikes of ASCII are folded first, and what shows nothing is left out.
struct FreeText {
    /// What a caller is told; nil when there is nothing to say.
    let fault: String?

    init(_ text: String, isSignature: Bool = false) {
        fault = Self.fault(Array(text.unicodeScalars), isSignature: isSignature)
    }

    private static let brackets = Set("[]【】〔〕〖〗〚〛".unicodeScalars)

    private static func fault(_ scalars: [Unicode.Scalar], isSignature: Bool) -> String? {
        guard scalars.indices.allSatisfy({ isPrintable(scalars, at: $0) }) else {
            return "control and format characters are not sent"
        }
        let folded = scalars.filter { !$0.properties.isDefaultIgnorableCodePoint }.map(Fold.init)
        let look = folded.map(\.scalar)
        if isSignature {
            guard !look.contains(where: { $0 == "\n" || brackets.contains($0) }) else {
                return "takes no line ends and no brackets"
            }
        }
        let lines = look.split(separator: "\n").map { $0.drop(while: \.properties.isWhitespace) }
        guard !lines.contains(where: { $0.first == "@" }) else {
            return "lines that begin with @ are not sent"
        }
        guard !hasAddress(look), !hasDomain(folded), !hasQuad(look) else {
            return "links are not sent"
        }
        return nil
    }

    // MARK: Characters

    /// Line ends are. Joiners are where Persian, Indic scripts and emoji need them: inside text that
    /// is not ASCII.
    private static func isPrintable(_ scalars: [Unicode.Scalar], at index: Int) -> Bool {
        let scalar = scalars[index]
        if scalar == "\n" { return true }
        if scalar == "\u{200c}" || scalar == "\u{200d}" {
            return index > 0 && index + 1 < scalars.count && !scalars[index - 1].isASCII
                && !scalars[index + 1].isASCII
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
            .unassigned:
            return false
        default: return true
        }
    }

    // MARK: Links

    private static func hasAddress(_ look: [Unicode.Scalar]) -> Bool {
        let text = string(look)
        return ["://", "http:", "https:", "www."].contains { text.contains($0) }
    }

    /// Digits and letters of any script, and the hyphen.
    private static func isLabel(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.numericType == .decimal || scalar == "-"
    }

    /// `label.tld`: a dot without space on either side, and a name of letters behind it. "Your code
    /// is 123456. Do not share it" has none, nor has "5 min.".
    private static func hasDomain(_ folded: [Fold]) -> Bool {
        for (index, dot) in folded.enumerated() where dot.scalar == "." {
            guard index > 0, isLabel(folded[index - 1].scalar) else { continue }
            let name = folded[(index + 1)...].prefix { isLabel($0.scalar) }.map(\.scalar)
            if isTopLevel(name, afterFullStop: dot.isIdeographicStop) { return true }
        }
        return false
    }

    /// Chinese and Japanese sentences follow each other without a space: after `。` only ASCII names
    /// count, after a dot ideographic ones of two or three characters, as top-level names have.
    private static func isTopLevel(_ name: [Unicode.Scalar], afterFullStop: Bool) -> Bool {
        guard name.count >= 2 else { return false }
        if string(Array(name.prefix(4))) == "xn--" { return true }
        guard name.allSatisfy(\.properties.isAlphabetic) else { return false }
        if afterFullStop { return name.allSatisfy(\.isASCII) }
        return !name.allSatisfy(\.properties.isIdeographic) || name.count <= 3
    }

    /// `192.0.2.1`: four numbers with dots between them and none beside them.
    private static func hasQuad(_ look: [Unicode.Scalar]) -> Bool {
        look.split { $0.properties.numericType != .decimal && $0 != "." }.contains { part in
            let numbers = part.split(separator: ".", omittingEmptySubsequences: false)
            let quad = numbers.last?.isEmpty == true ? numbers.dropLast() : numbers[...]
            return quad.count == 4 && quad.allSatisfy { (1...3).contains($0.count) }
        }
    }

    private static func string(_ scalars: [Unicode.Scalar]) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }
}

/// What a scalar looks like in lower-case ASCII: the part of compatibility folding (Unicode TR 15,
/// NFKC) that letters, digits and the marks of a link need. FoundationEssentials has no NFKC.
private struct Fold {
    let scalar: Unicode.Scalar
    let isIdeographicStop: Bool

    init(_ scalar: Unicode.Scalar) {
        isIdeographicStop = scalar == "。" || scalar == "｡"
        let folded = Self.ascii(scalar.value).flatMap { Unicode.Scalar($0) } ?? scalar
        self.scalar =
            folded.isASCII && folded.properties.isUppercase
            ? Unicode.Scalar(UInt8(folded.value) | 0x20) : folded
    }

    /// nil for what is itself.
    private static func ascii(_ value: UInt32) -> UInt32? {
        switch value {
        // Full-width forms.
        case 0xff01...0xff5e: value - 0xfee0
        // Full stops, one-dot leader, small full stop.
        case 0x3002, 0xff61, 0x2024, 0xfe52: 0x2e
        // Ratio, small, presentation and modifier colons.
        case 0x2236, 0xfe55, 0xfe13, 0xa789, 0x02d0: 0x3a
        // Fraction, division and big slashes.
        case 0x2044, 0x2215, 0x29f8: 0x2f
        // Small at sign; hyphens, which show alike.
        case 0xfe6b: 0x40
        case 0x2010, 0x2011, 0xfe63: 0x2d
        // Circled letters; squared ones, light and dark.
        case 0x24b6...0x24cf: value - 0x24b6 + 0x61
        case 0x24d0...0x24e9: value - 0x24d0 + 0x61
        case 0x1f130...0x1f149: value - 0x1f130 + 0x61
        case 0x1f150...0x1f169: value - 0x1f150 + 0x61
        case 0x1f170...0x1f189: value - 0x1f170 + 0x61
        // Mathematical alphabets of 26 capitals and 26 small letters each, and digits of ten.
        case 0x1d400...0x1d6a3: (value - 0x1d400) % 26 + 0x61
        case 0x1d7ce...0x1d7ff: (value - 0x1d7ce) % 10 + 0x30
        default: nil
        }
    }
}
