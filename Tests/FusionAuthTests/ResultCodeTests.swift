import FusionAuth
import Testing

@Suite("Result codes")
struct ResultCodeTests {
    @Test("a number has one meaning, but for 110005, which the node tells apart")
    func ambiguity() {
        let values = FusionAuthResultCode.all.map(\.value)
        #expect(values == values.sorted())
        let doubled = Dictionary(grouping: values, by: \.self).filter { $0.value.count > 1 }
        #expect(doubled.keys.sorted() == [110_005])
        #expect(FusionAuthResultCode(value: 110_005) == .templateEndSuccess)
        #expect(
            FusionAuthResultCode(value: 110_005, at: .graphAuth) == .graphAuthLocalVerifySuccess)
        #expect(FusionAuthResultCode(value: 110_005, at: .numberAuth) == .templateEndSuccess)
    }
}
