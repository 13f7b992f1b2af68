import Primitives

/// Signatures of other implementations, as published or as their libraries made them.
enum SignatureVectors {
    /// RFC 7515 §A.2.1; the exponent is AQAB.
    static let rsaModulus =
        "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qP"
        + "CJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47s"
        + "oMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2"
        + "R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoud"
        + "F8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
    /// RFC 7515 §A.2.1, alg RS256.
    static let rsaToken =
        "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh"
        + "0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.cC4hiUPoj9Eetdgtv3hF80EGrhuB"
        + "__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9"
        + "uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARN"
        + "PvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZES"
        + "c6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVm"
        + "tVrBp0igcN_IoypGlUPQGe77Rw"
    /// RFC 7515 §A.3.1.
    static let ecX = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
    static let ecY = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
    /// RFC 7515 §A.3.1, alg ES256.
    static let ecToken =
        "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh"
        + "0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6"
        + "-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    /// Made by joserfc.
    static let pssModulus =
        "5JXWUfaSmZhtAytsSpwAXdl5G6vXKVCE910ZpthbjbJg33Gf2bGsCgFKZ-_Zn8HfEp1B-lvP"
        + "rHyvGSeR5GGgy7UdjTnnVo8yHfXGVOjkckZjBm2K-Us0Jf-7UAlzQehyUc39bvgX--OcjD-t"
        + "na5FTIKNN4FJYX0HSTu9LZ0Oh7obkxvUZahBU7LFKnTAVDeUd0wqXyX_6lCeG-pvm3MP1jyK"
        + "XI5wv8zD7SwzrrNUMbdlGnfrznFcv_M5TAn6sVzhBkRmn1OQJjZAvmkPFEvfN9wlli4XllmO"
        + "ZYWNl6qrKtNKY0O58S6vRzoTqFtBdA06QxobkHoOJRE3LckqGDW8kQ"
    /// Signed by joserfc, alg PS256.
    static let pssToken =
        "eyJhbGciOiJQUzI1NiJ9.YSBtZXNzYWdlIG9mIGFub3RoZXIgaW1wbGVtZW50YXRpb24.F0d"
        + "enAgqIWUHvZlej3OGixpG1DsFwGoCdGPo8XoRIJfvjPfO_KtO4zQzVKfM4oQPfKvPoryC8BD"
        + "QSZalrslnfnyPbu-To6kFD_fDUFu-SnBB__1MUoEL76M_21pfhUfanq8Z2fjBss3TjMxU62L"
        + "_XNhCy9wIPA8k4njIiVwQGmuwpfRlbrIxIhASIO7YcIrOa_YQQjUILDcrwDByFld3TxpmORn"
        + "YB-bBaHaycbfnM2Jhl3UPMxi3vTyQXpf0aZPaZJvblE-8NOkgrGmcNdjpnxjI2ccx-xlO-e4"
        + "wMI7rv1rmEr2TbAqIWzuCZ3GVD-9Hp3inNVOmpY6SJUhnCntAwg"
    /// 1024 bits, made by joserfc.
    static let weakModulus =
        "2j3qwYm2YpPwW8vdhd5lQKuvRNaQyCyNybqL1UZHlPgcrTku3Q0Vz7xXaXbyJH4DiQGhxARB"
        + "TjQ78fay65CusKRF3ksivtvjXqBsp1uz0ta9KK6HnoCs1_gUOV3e-wQ5z478IZmdIdZCK2uT"
        + "vUPMYR4EilqmZw1nTBT5-VlxrAU"
    /// A right RS256 signature of the 1024-bit key.
    static let weakToken =
        "eyJhbGciOiJSUzI1NiJ9.d2Vhaw.CuEbNq-OYiElz5byhb4AHB3KX4GquKRF3mWc1RKHcF1j"
        + "ucI5jNFYULBz-hiwgJdj8fLAJhuK2LT0LGjeFAd_GlDRK0PfkasWVMs2B9CjfLMc9U0wmEs3"
        + "pRbZVyg6sXAIGv-AFEZneRclaoy81Eyhl3dRyRrGj1sinGNe1ijk6_I"

    struct Parts {
        let input: [UInt8]
        let signature: [UInt8]
    }

    /// Of a compact JWS.
    static func parts(_ token: String) -> Parts? {
        guard let dot = token.lastIndex(of: "."),
            let signature = Base64URL.decode(String(token[token.index(after: dot)...]))
        else { return nil }
        return Parts(input: Array(token[..<dot].utf8), signature: signature)
    }
}
