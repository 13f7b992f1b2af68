/// `#RRGGBB` or `#RRGGBBAA` in JSON.
public struct FusionAuthColor: Hashable, Sendable, Codable {
    public var red: UInt8
    public var green: UInt8
    public var blue: UInt8
    public var alpha: UInt8

    /// - Parameter hex: `0xRRGGBB`
    public init(_ hex: UInt32, alpha: Double = 1) {
        red = UInt8(truncatingIfNeeded: hex >> 16)
        green = UInt8(truncatingIfNeeded: hex >> 8)
        blue = UInt8(truncatingIfNeeded: hex)
        self.alpha = UInt8((max(0, min(1, alpha)) * 255).rounded())
    }

    /// nil unless it is `#` and six or eight hex digits.
    public init?(text: String) {
        let digits = text.dropFirst()
        guard text.hasPrefix("#"), digits.utf8.count == 6 || digits.utf8.count == 8,
            digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
            let value = UInt32(digits, radix: 16)
        else { return nil }
        let hasAlpha = digits.utf8.count == 8
        self.init(hasAlpha ? value >> 8 : value)
        if hasAlpha { alpha = UInt8(truncatingIfNeeded: value) }
    }

    public var text: String {
        let parts = alpha == 255 ? [red, green, blue] : [red, green, blue, alpha]
        return "#"
            + parts.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let color = Self(text: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a colour is #RRGGBB or #RRGGBBAA")
        }
        self = color
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    public static let white = Self(0xFFFFFF)
    public static let black = Self(0)
    public static let clear = Self(0, alpha: 0)
}

public enum FusionAuthFontWeight: String, Codable, Hashable, Sendable {
    case regular, medium, semibold, bold
}

public struct FusionAuthFont: Codable, Hashable, Sendable {
    /// Points.
    public var size: Double
    public var weight: FusionAuthFontWeight

    public init(_ size: Double, _ weight: FusionAuthFontWeight = .regular) {
        self.size = size
        self.weight = weight
    }
}

/// A text with its looks.
public struct FusionAuthText: Codable, Hashable, Sendable {
    public var text: String
    public var color: FusionAuthColor
    public var font: FusionAuthFont

    public init(_ text: String, _ color: FusionAuthColor, _ font: FusionAuthFont) {
        self.text = text
        self.color = color
        self.font = font
    }
}

/// What lies under a button, in one of its states.
public struct FusionAuthBackground: Codable, Hashable, Sendable {
    public var color: FusionAuthColor
    public var cornerRadius: Double
    /// Name of an image among the app's own; drawn over the colour.
    public var imageName: String?

    public init(_ color: FusionAuthColor, cornerRadius: Double = 0, imageName: String? = nil) {
        self.color = color
        self.cornerRadius = cornerRadius
        self.imageName = imageName
    }
}

public struct FusionAuthSize: Codable, Hashable, Sendable {
    public var width: Double
    public var height: Double

    public init(_ width: Double, _ height: Double) {
        self.width = width
        self.height = height
    }
}

public struct FusionAuthRect: Codable, Hashable, Sendable {
    public var x: Double
    public var y: Double
    public var width: Double
    public var height: Double

    public init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }
}

/// Where something lies in the view that holds it. The original asks a closure for each frame; a
/// value says the same and can be written in JSON. Distances are points; what is nil is left to the
/// thing's natural place and size.
public struct FusionAuthFrame: Codable, Hashable, Sendable {
    public var left: Double?
    public var right: Double?
    /// In the middle of the width.
    public var isCentred: Bool
    public var top: Double?
    public var bottom: Double?
    /// Of the height that the thing leaves free: 0 is the top, 1 the bottom. Before `top`.
    public var topShare: Double?
    public var width: Double?
    public var height: Double?

    public init(
        left: Double? = nil, right: Double? = nil, isCentred: Bool = false, top: Double? = nil,
        bottom: Double? = nil, topShare: Double? = nil, width: Double? = nil,
        height: Double? = nil
    ) {
        self.left = left
        self.right = right
        self.isCentred = isCentred
        self.top = top
        self.bottom = bottom
        self.topShare = topShare
        self.width = width
        self.height = height
    }

    /// - Parameters:
    ///   - holder: the view that holds the thing.
    ///   - natural: where the thing would lie by itself.
    public func rect(in holder: FusionAuthSize, natural: FusionAuthRect) -> FusionAuthRect {
        let stretched: Double? =
            if let left, let right { max(0, holder.width - left - right) } else { nil }
        let width = width ?? stretched ?? natural.width
        let stretchedHeight: Double? =
            if let top, let bottom { max(0, holder.height - top - bottom) } else { nil }
        let height = height ?? stretchedHeight ?? natural.height
        let x: Double =
            if isCentred { (holder.width - width) / 2 } else if let left { left } else if let right
            { holder.width - right - width } else { natural.x }
        let y: Double =
            if let topShare { (holder.height - height) * topShare } else if let top {
                top
            } else if let bottom { holder.height - bottom - height } else { natural.y }
        return FusionAuthRect(x: x, y: y, width: width, height: height)
    }
}

/// An agreement that the person accepts by the check box.
public struct FusionAuthAgreement: Codable, Hashable, Sendable {
    public var name: String
    public var url: String

    public init(_ name: String, _ url: String) {
        self.name = name
        self.url = url
    }
}

/// Looks of a button in its states.
public struct FusionAuthButtonBackgrounds: Codable, Hashable, Sendable {
    public var normal: FusionAuthBackground
    /// While the privacy box is unchecked.
    public var unselected: FusionAuthBackground
    public var highlighted: FusionAuthBackground

    public init(
        normal: FusionAuthBackground, unselected: FusionAuthBackground? = nil,
        highlighted: FusionAuthBackground? = nil
    ) {
        self.normal = normal
        self.unselected = unselected ?? normal
        self.highlighted = highlighted ?? normal
    }
}
