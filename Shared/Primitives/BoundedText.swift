extension String {
    /// The beginning that takes at most `bytesMax` bytes of UTF-8, never half a scalar. A `Character`
    /// is no bound: any number of marks may stand on one letter.
    package func prefix(bytesMax: Int) -> String {
        guard utf8.count > bytesMax else { return self }
        var kept = UnicodeScalarView()
        var count = 0
        for scalar in unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= bytesMax else { break }
            kept.append(scalar)
        }
        return String(kept)
    }
}
