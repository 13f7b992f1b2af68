/// JSON may leave out whatever keeps its default; what it names must be of the right kind.
extension NumberAuthPageModel: Codable {
    private enum Key: String, CodingKey {
        case
            supportedOrientations, presentDirection, keepsPageOnDismissal, backgroundColor,
            customViewName, customViewFrame, navTitle, navColor, logoIsHidden, nameLabel,
            nameLabelFrame, numberColor, numberFont, numberFrame, slogan, sloganFrame,
            loginButton, loginButtonBackgrounds, loginButtonFrame, otherLoginButton,
            otherLoginButtonBackground, otherLoginButtonIsHidden, otherLoginButtonFrame,
            moreLoginAction, privacyOperatorIndex, privacyAgreements, privacyConnectors,
            privacyPrefix, privacySuffix, privacyOperatorPrefix, privacyOperatorSuffix,
            privacyTextColor, privacyLinkColor, privacyFont, privacyFrame, checkBoxIsHidden,
            checkBoxIsChecked, checkBoxSize, privacyAlertIsShown, privacyAlertLogsIn,
            privacyAlertCornerRadii, privacyAlertBackgroundColor, privacyAlertTitle,
            privacyAlertContentColor, privacyAlertLinkColor, privacyAlertContentFont,
            privacyAlertContentIsCentred, privacyAlertButton, privacyAlertButtonHighlightedColor,
            privacyAlertButtonBackgrounds, privacyAlertClosesOnMaskTap, privacyAlertMaskColor,
            privacyAlertFrame, privacyAlertTitleFrame, privacyAlertContentFrame,
            privacyAlertButtonFrame
    }

    public init(from decoder: any Decoder) throws {
        self.init()
        let values = try decoder.container(keyedBy: Key.self)
        func read<Value: Decodable>(_ key: Key, _ value: inout Value) throws {
            value = try values.decodeIfPresent(Value.self, forKey: key) ?? value
        }
        try read(.supportedOrientations, &supportedOrientations)
        try read(.presentDirection, &presentDirection)
        try read(.keepsPageOnDismissal, &keepsPageOnDismissal)
        try read(.backgroundColor, &backgroundColor)
        try read(.customViewName, &customViewName)
        try read(.customViewFrame, &customViewFrame)
        try read(.navTitle, &navTitle)
        try read(.navColor, &navColor)
        try read(.logoIsHidden, &logoIsHidden)
        try read(.nameLabel, &nameLabel)
        try read(.nameLabelFrame, &nameLabelFrame)
        try read(.numberColor, &numberColor)
        try read(.numberFont, &numberFont)
        try read(.numberFrame, &numberFrame)
        try read(.slogan, &slogan)
        try read(.sloganFrame, &sloganFrame)
        try read(.loginButton, &loginButton)
        try read(.loginButtonBackgrounds, &loginButtonBackgrounds)
        try read(.loginButtonFrame, &loginButtonFrame)
        try read(.otherLoginButton, &otherLoginButton)
        try read(.otherLoginButtonBackground, &otherLoginButtonBackground)
        try read(.otherLoginButtonIsHidden, &otherLoginButtonIsHidden)
        try read(.otherLoginButtonFrame, &otherLoginButtonFrame)
        try read(.moreLoginAction, &moreLoginAction)
        try read(.checkBoxIsHidden, &checkBoxIsHidden)
        try read(.checkBoxIsChecked, &checkBoxIsChecked)
        try read(.checkBoxSize, &checkBoxSize)
        try readPrivacy(values)
    }

    private mutating func readPrivacy(_ values: KeyedDecodingContainer<Key>) throws {
        func read<Value: Decodable>(_ key: Key, _ value: inout Value) throws {
            value = try values.decodeIfPresent(Value.self, forKey: key) ?? value
        }
        try read(.privacyOperatorIndex, &privacyOperatorIndex)
        try read(.privacyAgreements, &privacyAgreements)
        try read(.privacyConnectors, &privacyConnectors)
        try read(.privacyPrefix, &privacyPrefix)
        try read(.privacySuffix, &privacySuffix)
        try read(.privacyOperatorPrefix, &privacyOperatorPrefix)
        try read(.privacyOperatorSuffix, &privacyOperatorSuffix)
        try read(.privacyTextColor, &privacyTextColor)
        try read(.privacyLinkColor, &privacyLinkColor)
        try read(.privacyFont, &privacyFont)
        try read(.privacyFrame, &privacyFrame)
        try read(.privacyAlertIsShown, &privacyAlertIsShown)
        try read(.privacyAlertLogsIn, &privacyAlertLogsIn)
        try read(.privacyAlertCornerRadii, &privacyAlertCornerRadii)
        try read(.privacyAlertBackgroundColor, &privacyAlertBackgroundColor)
        try read(.privacyAlertTitle, &privacyAlertTitle)
        try read(.privacyAlertContentColor, &privacyAlertContentColor)
        try read(.privacyAlertLinkColor, &privacyAlertLinkColor)
        try read(.privacyAlertContentFont, &privacyAlertContentFont)
        try read(.privacyAlertContentIsCentred, &privacyAlertContentIsCentred)
        try read(.privacyAlertButton, &privacyAlertButton)
        try read(.privacyAlertButtonHighlightedColor, &privacyAlertButtonHighlightedColor)
        try read(.privacyAlertButtonBackgrounds, &privacyAlertButtonBackgrounds)
        try read(.privacyAlertClosesOnMaskTap, &privacyAlertClosesOnMaskTap)
        try read(.privacyAlertMaskColor, &privacyAlertMaskColor)
        try read(.privacyAlertFrame, &privacyAlertFrame)
        try read(.privacyAlertTitleFrame, &privacyAlertTitleFrame)
        try read(.privacyAlertContentFrame, &privacyAlertContentFrame)
        try read(.privacyAlertButtonFrame, &privacyAlertButtonFrame)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(supportedOrientations, forKey: .supportedOrientations)
        try values.encode(presentDirection, forKey: .presentDirection)
        try values.encode(keepsPageOnDismissal, forKey: .keepsPageOnDismissal)
        try values.encode(backgroundColor, forKey: .backgroundColor)
        try values.encodeIfPresent(customViewName, forKey: .customViewName)
        try values.encode(customViewFrame, forKey: .customViewFrame)
        try values.encode(navTitle, forKey: .navTitle)
        try values.encode(navColor, forKey: .navColor)
        try values.encode(logoIsHidden, forKey: .logoIsHidden)
        try values.encode(nameLabel, forKey: .nameLabel)
        try values.encode(nameLabelFrame, forKey: .nameLabelFrame)
        try values.encode(numberColor, forKey: .numberColor)
        try values.encode(numberFont, forKey: .numberFont)
        try values.encode(numberFrame, forKey: .numberFrame)
        try values.encode(slogan, forKey: .slogan)
        try values.encode(sloganFrame, forKey: .sloganFrame)
        try values.encode(loginButton, forKey: .loginButton)
        try values.encode(loginButtonBackgrounds, forKey: .loginButtonBackgrounds)
        try values.encode(loginButtonFrame, forKey: .loginButtonFrame)
        try values.encode(otherLoginButton, forKey: .otherLoginButton)
        try values.encode(otherLoginButtonBackground, forKey: .otherLoginButtonBackground)
        try values.encode(otherLoginButtonIsHidden, forKey: .otherLoginButtonIsHidden)
        try values.encode(otherLoginButtonFrame, forKey: .otherLoginButtonFrame)
        try values.encode(moreLoginAction, forKey: .moreLoginAction)
        try values.encode(checkBoxIsHidden, forKey: .checkBoxIsHidden)
        try values.encode(checkBoxIsChecked, forKey: .checkBoxIsChecked)
        try values.encode(checkBoxSize, forKey: .checkBoxSize)
        try encodePrivacy(into: &values)
    }

    private func encodePrivacy(
        into values: inout KeyedEncodingContainer<Key>
    ) throws {
        try values.encode(privacyOperatorIndex, forKey: .privacyOperatorIndex)
        try values.encode(privacyAgreements, forKey: .privacyAgreements)
        try values.encode(privacyConnectors, forKey: .privacyConnectors)
        try values.encode(privacyPrefix, forKey: .privacyPrefix)
        try values.encode(privacySuffix, forKey: .privacySuffix)
        try values.encode(privacyOperatorPrefix, forKey: .privacyOperatorPrefix)
        try values.encode(privacyOperatorSuffix, forKey: .privacyOperatorSuffix)
        try values.encode(privacyTextColor, forKey: .privacyTextColor)
        try values.encode(privacyLinkColor, forKey: .privacyLinkColor)
        try values.encode(privacyFont, forKey: .privacyFont)
        try values.encode(privacyFrame, forKey: .privacyFrame)
        try values.encode(privacyAlertIsShown, forKey: .privacyAlertIsShown)
        try values.encode(privacyAlertLogsIn, forKey: .privacyAlertLogsIn)
        try values.encode(privacyAlertCornerRadii, forKey: .privacyAlertCornerRadii)
        try values.encode(privacyAlertBackgroundColor, forKey: .privacyAlertBackgroundColor)
        try values.encode(privacyAlertTitle, forKey: .privacyAlertTitle)
        try values.encode(privacyAlertContentColor, forKey: .privacyAlertContentColor)
        try values.encode(privacyAlertLinkColor, forKey: .privacyAlertLinkColor)
        try values.encode(privacyAlertContentFont, forKey: .privacyAlertContentFont)
        try values.encode(privacyAlertContentIsCentred, forKey: .privacyAlertContentIsCentred)
        try values.encode(privacyAlertButton, forKey: .privacyAlertButton)
        try values.encode(
            privacyAlertButtonHighlightedColor, forKey: .privacyAlertButtonHighlightedColor)
        try values.encode(privacyAlertButtonBackgrounds, forKey: .privacyAlertButtonBackgrounds)
        try values.encode(privacyAlertClosesOnMaskTap, forKey: .privacyAlertClosesOnMaskTap)
        try values.encode(privacyAlertMaskColor, forKey: .privacyAlertMaskColor)
        try values.encode(privacyAlertFrame, forKey: .privacyAlertFrame)
        try values.encode(privacyAlertTitleFrame, forKey: .privacyAlertTitleFrame)
        try values.encode(privacyAlertContentFrame, forKey: .privacyAlertContentFrame)
        try values.encode(privacyAlertButtonFrame, forKey: .privacyAlertButtonFrame)
    }
}
