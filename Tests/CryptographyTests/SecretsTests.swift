import Cryptography
import Effects
import Primitives
import Testing

private func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex) ?? [] }

@Suite struct SecretsTests {
    private let ring = KeyRing.ephemeral()

    @Test("two purposes, and two rings, share no key")
    func purposes() {
        let message = Array("same".utf8)
        let one = SodiumKeyedDigest(ring, purpose: "one")
        let two = SodiumKeyedDigest(ring, purpose: "two")
        let elsewhere = SodiumKeyedDigest(KeyRing.ephemeral(), purpose: "one")
        #expect(one.digest(message) == SodiumKeyedDigest(ring, purpose: "one").digest(message))
        #expect(one.digest(message) != two.digest(message))
        #expect(one.digest(message) != elsewhere.digest(message))
        #expect(one.digest(message).bytes.count == 32)
        let sealed = SodiumSealer(ring, purpose: "one").seal(message, context: "")
        #expect(SodiumSealer(ring, purpose: "two").open(sealed, context: "") == nil)
    }

    @Test("sealed bytes open only whole, under their own context, and never look alike")
    func sealing() {
        let sealer = SodiumSealer(ring, purpose: "number")
        for plain: [UInt8] in [[], [0], Array(repeating: 7, count: 1000)] {
            let sealed = sealer.seal(plain, context: "run/1")
            #expect(sealed.count == plain.count + SodiumSealer.overheadCount)
            #expect(sealer.open(sealed, context: "run/1") == plain)
            #expect(sealer.open(sealed, context: "run/2") == nil)
            #expect(sealer.seal(plain, context: "run/1") != sealed)
        }
        let sealed = sealer.seal([1, 2, 3], context: "run/1")
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(sealer.open(changed, context: "run/1") == nil, "byte \(index)")
            #expect(sealer.open(Array(sealed.prefix(index)), context: "run/1") == nil)
        }
        #expect(sealer.open(sealed + [0], context: "run/1") == nil)
    }

    @Test("a sealed number comes back as it was")
    func sealedNumber() throws {
        let sealer = SodiumSealer(ring, purpose: "number")
        let number = try #require(PhoneNumber(e164: "+14155552671"))
        #expect(sealer.openNumber(sealer.seal(number, context: "r"), context: "r") == number)
    }

    @Test("Ed25519 agrees with RFC 8032 §7.1, tests 1 to 3")
    func signatureVectors() {
        let vectors = [
            (
                "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
                    + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
            ),
            (
                "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                    + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
            ),
            (
                "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
                "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
                "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
                    + "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
            ),
        ]
        let signer = SodiumSigner()
        for (seed, publicKey, message, signature) in vectors {
            #expect(signer.sign(bytes(message), seed: Secret(bytes(seed))) == bytes(signature))
            #expect(
                signer.isValid(
                    signature: bytes(signature), of: bytes(message), publicKey: bytes(publicKey)))
        }
    }

    @Test("a made pair signs and verifies; another message, key or length does not")
    func signatures() throws {
        let signer = SodiumSigner()
        let (seed, publicKey) = signer.generateKeyPair()
        let (otherSeed, otherKey) = signer.generateKeyPair()
        let message = Array("header.payload".utf8)
        let signature = try #require(signer.sign(message, seed: seed))
        #expect(signer.isValid(signature: signature, of: message, publicKey: publicKey))
        #expect(signer.sign(message, seed: otherSeed) != signature)
        #expect(signer.sign(message, seed: seed) == signature, "after the kept key was another's")
        #expect(!signer.isValid(signature: signature, of: message + [0], publicKey: publicKey))
        #expect(!signer.isValid(signature: signature, of: message, publicKey: otherKey))
        #expect(!signer.isValid(signature: [], of: message, publicKey: publicKey))
        #expect(!signer.isValid(signature: signature, of: message, publicKey: []))
        #expect(signer.sign(message, seed: Secret([1, 2])) == nil)
    }

    @Test("SHA-256 of abc is that of FIPS 180-4")
    func sha256() {
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(Hex.encode(SodiumSigner().sha256(Array("abc".utf8))) == digest)
    }

    @Test("HMAC-SHA1 agrees with RFC 2202, tests 1 to 7")
    func hmacSHA1() {
        let vectors: [([UInt8], [UInt8], String)] = [
            (
                Array(repeating: 0x0b, count: 20), Array("Hi There".utf8),
                "b617318655057264e28bc0b6fb378c8ef146be00"
            ),
            (
                Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
                "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"
            ),
            (
                Array(repeating: 0xaa, count: 20), Array(repeating: 0xdd, count: 50),
                "125d7342b9ac11cd91a39af48aa17b4f63f175d3"
            ),
            (
                Array(1...25), Array(repeating: 0xcd, count: 50),
                "4c9007f4026250c6bc8414f9bf50c86c2d7235da"
            ),
            (
                Array(repeating: 0x0c, count: 20), Array("Test With Truncation".utf8),
                "4c1a03424b55e07fe7f27be1d58bb9324a9a5a04"
            ),
            (
                Array(repeating: 0xaa, count: 80),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                "aa4ae5e15272d00e95705637ce8a3b55ed402112"
            ),
            (
                Array(repeating: 0xaa, count: 80),
                Array(
                    "Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data".utf8
                ),
                "e8e99d0f45237d786d6bbaa7965c7808bbff1a91"
            ),
        ]
        let authenticator = SodiumAuthenticator()
        for (key, message, digest) in vectors {
            #expect(Hex.encode(authenticator.hmacSHA1(message, key: Secret(key))) == digest)
        }
    }

    @Test("HMAC-SHA256 agrees with RFC 4231, tests 1, 2, 3 and 6")
    func hmacSHA256() {
        let vectors: [([UInt8], [UInt8], String)] = [
            (
                Array(repeating: 0x0b, count: 20), Array("Hi There".utf8),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                Array(repeating: 0xaa, count: 20), Array(repeating: 0xdd, count: 50),
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
            ),
            (
                Array(repeating: 0xaa, count: 131),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ]
        let authenticator = SodiumAuthenticator()
        for (key, message, digest) in vectors {
            #expect(Hex.encode(authenticator.hmacSHA256(message, key: Secret(key))) == digest)
        }
    }

    @Test("random bytes have the asked length and do not repeat")
    func random() {
        let random = SodiumRandom()
        #expect(random.bytes(0).isEmpty)
        #expect(random.bytes(32).count == 32)
        #expect(random.bytes(32) != random.bytes(32))
        let below = (0..<2000).map { _ in random.uniform(below: 10) }
        #expect(Set(below) == Set(0..<10))
    }
}

@Suite struct SodiumCodeDerivationTests {
    private let digits = Array("0123456789".utf8)
    private let codes = SodiumCodeDerivation(KeyRing.ephemeral())

    private func code(_ id: String, _ sequence: Int = 0, length: Int = 6) -> String? {
        codes.code(
            challengeID: id, sequence: sequence, length: length, alphabet: digits,
            version: codes.currentVersion)?.reveal()
    }

    @Test("a challenge has one code, however often it is derived; a gone version has none")
    func derivation() {
        #expect(code("chl_1") == code("chl_1"))
        #expect(code("chl_1")?.count == 6)
        #expect(code("chl_1", 0, length: 10) != code("chl_1", 1, length: 10))
        #expect(code("chl_1", length: 10) != code("chl_2", length: 10))
        let gone = codes.code(
            challengeID: "chl_1", sequence: 0, length: 6, alphabet: digits, version: 9)
        #expect(gone == nil)
    }

    @Test("the id's length is part of what is derived from, so no two challenges run together")
    func separation() {
        let ids = ["a", "a\u{0}", "a\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}", "", "\u{0}"]
        #expect(Set(ids.map { code($0, length: 32) }).count == ids.count)
    }

    @Test("every character of an alphabet of any size is equally likely, at every place")
    func uniformity() {
        for size in [2, 10, 31, 62] {
            let alphabet = (0..<size).map { UInt8(48 + $0) }
            let length = 6
            let drawn = 6000
            var counts = [[Int]](repeating: Array(repeating: 0, count: size), count: length)
            for number in 0..<drawn {
                let code = codes.code(
                    challengeID: "chl_\(number)", sequence: 0, length: length, alphabet: alphabet,
                    version: 1)
                for (place, character) in (code?.reveal() ?? "").utf8.enumerated() {
                    counts[place][Int(character) - 48] += 1
                }
            }
            // All places together, since a bias of single letters is small: without rejection, eight
            // letters of 62 would come a quarter too often, and six digits of ten by 1.6 in a hundred.
            var pooled = Array(repeating: 0, count: size)
            for number in 0..<drawn {
                let code = codes.code(
                    challengeID: "chl_\(number)", sequence: 1, length: 64, alphabet: alphabet,
                    version: 1)
                for character in (code?.reveal() ?? "").utf8 { pooled[Int(character) - 48] += 1 }
            }
            for place in counts + [pooled] {
                let expected = Double(place.reduce(0, +)) / Double(size)
                let chiSquared = place.reduce(0.0) { sum, count in
                    sum + (Double(count) - expected) * (Double(count) - expected) / expected
                }
                // Mean size − 1, deviation √(2 (size − 1)); six deviations are one chance in
                // millions.
                let freedom = Double(size - 1)
                #expect(chiSquared < freedom + 6 * (2 * freedom).squareRoot() + 6, "size \(size)")
            }
        }
    }

    @Test("a long code needs several blocks and still is one function of its challenge")
    func long() {
        let code = codes.code(
            challengeID: "chl", sequence: 0, length: 64, alphabet: Array("01".utf8), version: 1)
        #expect(code?.reveal().count == 64)
        let rare = codes.code(
            challengeID: "chl", sequence: 0, length: 64, alphabet: (0...128).map { $0 % 128 },
            version: 1)
        #expect(rare?.reveal().utf8.count == 64)
    }

    @Test("a code does not print")
    func printing() {
        let code = codes.code(
            challengeID: "chl", sequence: 0, length: 6, alphabet: digits, version: 1)
        #expect("\(String(describing: code))".contains("<secret>"))
    }
}
