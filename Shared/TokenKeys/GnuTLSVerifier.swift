import CGnuTLS
package import Effects

/// RSA and ECDSA signatures of others, judged by GnuTLS.
package struct GnuTLSVerifier: SignatureVerifier {
    /// R and S of P-256.
    private static let coordinateBytes = 32

    package init() {}

    package func isValid(
        signature: [UInt8], of message: [UInt8], key: ForeignKey, algorithm: ForeignAlgorithm
    ) -> Bool {
        guard let scheme = Self.scheme(algorithm, key), let handle = PublicKeyHandle(key) else {
            return false
        }
        guard case .es256 = algorithm else {
            return handle.verifies(signature, of: message, scheme)
        }
        guard let encoded = Self.derSignature(signature) else { return false }
        return handle.verifies(encoded, of: message, scheme)
    }

    /// nil where key and algorithm do not go together, or the modulus has not the right size.
    private static func scheme(
        _ algorithm: ForeignAlgorithm, _ key: ForeignKey
    ) -> gnutls_sign_algorithm_t? {
        switch (algorithm, key) {
        case (.es256, .p256(let x, let y)):
            x.count == coordinateBytes && y.count == coordinateBytes
                ? GNUTLS_SIGN_ECDSA_SHA256 : nil
        case (.rs256, .rsa):
            ForeignKey.rsaBits.contains(key.bitsCount) ? GNUTLS_SIGN_RSA_SHA256 : nil
        case (.ps256, .rsa):
            ForeignKey.rsaBits.contains(key.bitsCount) ? GNUTLS_SIGN_RSA_PSS_RSAE_SHA256 : nil
        case (.es256, .rsa), (.rs256, .p256), (.ps256, .p256): nil
        }
    }

    /// R and S (RFC 7518 §3.4) as the DER sequence that GnuTLS reads.
    private static func derSignature(_ signature: [UInt8]) -> [UInt8]? {
        guard signature.count == 2 * coordinateBytes else { return nil }
        var encoded = gnutls_datum_t(data: nil, size: 0)
        let status = withDatum(Array(signature.prefix(coordinateBytes))) { r in
            withDatum(Array(signature.suffix(coordinateBytes))) { s in
                gnutls_encode_rs_value(&encoded, r, s)
            }
        }
        guard status == GNUTLS_E_SUCCESS, let data = encoded.data else { return nil }
        defer { cgnutls_free(data) }
        return Array(UnsafeBufferPointer(start: data, count: Int(encoded.size)))
    }
}

/// One imported key; freed with the last reference.
private final class PublicKeyHandle {
    private let key: gnutls_pubkey_t

    /// nil for numbers that are no key.
    init?(_ foreign: ForeignKey) {
        var made: gnutls_pubkey_t?
        guard gnutls_pubkey_init(&made) == GNUTLS_E_SUCCESS, let made else { return nil }
        key = made
        let status =
            switch foreign {
            case .rsa(let modulus, let exponent):
                withDatum(modulus) { m in
                    withDatum(exponent) { e in gnutls_pubkey_import_rsa_raw(made, m, e) }
                }
            case .p256(let x, let y):
                withDatum(x) { x in
                    withDatum(y) { y in
                        gnutls_pubkey_import_ecc_raw(made, GNUTLS_ECC_CURVE_SECP256R1, x, y)
                    }
                }
            }
        // `deinit` frees the handle also here: every stored property is set.
        guard status == GNUTLS_E_SUCCESS else { return nil }
    }

    deinit { gnutls_pubkey_deinit(key) }

    func verifies(
        _ signature: [UInt8], of message: [UInt8], _ scheme: gnutls_sign_algorithm_t
    ) -> Bool {
        let status = withDatum(message) { message in
            withDatum(signature) { signature in
                gnutls_pubkey_verify_data2(key, scheme, 0, message, signature)
            }
        }
        return status >= 0
    }
}

/// GnuTLS reads through the pointer and keeps nothing of it.
private func withDatum<Value>(
    _ bytes: [UInt8], _ body: (UnsafePointer<gnutls_datum_t>) -> Value
) -> Value {
    var bytes = bytes
    return bytes.withUnsafeMutableBufferPointer { buffer in
        var datum = gnutls_datum_t(data: buffer.baseAddress, size: UInt32(buffer.count))
        return body(&datum)
    }
}
