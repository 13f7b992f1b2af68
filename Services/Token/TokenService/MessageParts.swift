/// How many SMS parts a text takes (3GPP TS 23.038): 160 characters of the GSM alphabet or 70
/// UTF-16 units in one part, 153 or 67 in each of several.
struct MessageParts: Sendable, Equatable {
    let count: Int
    /// The first character that the GSM alphabet lacks; nil when the text fits it.
    let outsider: Character?

    init(_ text: String) {
        outsider = text.first { !Self.basic.contains($0) && !Self.extended.contains($0) }
        if outsider == nil {
            let units = text.count + text.count(where: Self.extended.contains)
            count = units <= 160 ? 1 : (units + 152) / 153
        } else {
            let units = text.utf16.count
            count = units <= 70 ? 1 : (units + 66) / 67
        }
    }

    private static let basic = Set(
        """
        @£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&'()*+,-./0123456789:;<=>?¡\
        ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà
        """)
    /// Two units each.
    private static let extended = Set("^{}\\[~]|€")
}
