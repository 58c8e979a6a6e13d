// SPDX-License-Identifier: Apache-2.0
// Unicode's properties as tables of ranges, and of the letters without case and accent.
#include "workloads/data/letters.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace gpusizer {

namespace {

struct Range {
  char32_t first, last;
};

// Plain letters in the order of the alphabet's code points; a dot: stays as it is.
constexpr std::u16string_view latin =
    u"aaaaaaæceeeeiiiiðnooooo.øuuuuyþ.aaaaaa.ceeeeiiii.nooooo..uuuuy.yaaaaaaccccccccddđ.eeeeeeeeeegggggggg"
    u"hhħ.iiiiiiiii.ĳ.jjkk.llllllŀ.ł.nnnnnn.ŋ.ooooooœ.rrrrrrssssssssttttŧ.uuuuuuuuuuuuwwyyyzzzzzz..ɓƃ.ƅ.ɔƈ"
    u".ɖɗƌ..ǝəɛƒ.ɠɣ.ɩɨƙ...ɯɲ.ɵooƣ.ƥ.ʀƨ.ʃ..ƭ.ʈuuʊʋƴ.ƶ.ʒƹ...ƽ.......ǆǆ.ǉǉ.ǌǌ.aaiioouuuuuuuuuu.aaaaææǥ.ggkkoo"
    u"ooʒʒjǳǳ.ggƕƿnnaaææøøaaaaeeeeiiiioooorrrruuuussttȝ.hhƞ.ȣ.ȥ.aaeeooooooooyy......ⱥȼ.ƚⱦ..ɂ.ƀʉʌɇ.ɉ.ɋ.ɍ.ɏ.";

constexpr std::u16string_view greek_and_cyrillic =
    u"ͱ.ͳ.ʹ.ͷ.......;ϳ.....¨α·εηι.ο.υωιαβγδεζηθικλμνξοπρ.στυφχψωιυαεηιυ.........................ιυουωϗ...ϒ"
    u"ϒ...ϙ.ϛ.ϝ.ϟ.ϡ.ϣ.ϥ.ϧ.ϩ.ϫ.ϭ.ϯ.....θ..ϸ.ϲϻ..ͻͼͽееђгєѕііјљњћкиуџабвгдежзииклмнопрстуфхцчшщъыьэюя........"
    u".и......................ее.г...і....киу.ѡ.ѣ.ѥ.ѧ.ѩ.ѫ.ѭ.ѯ.ѱ.ѳ.ѵ.ѵѵѹ.ѻ.ѽ.ѿ.ҁ.........ҋ.ҍ.ҏ.ґ.ғ.ҕ.җ.ҙ.қ."
    u"ҝ.ҟ.ҡ.ң.ҥ.ҧ.ҩ.ҫ.ҭ.ү.ұ.ҳ.ҵ.ҷ.ҹ.һ.ҽ.ҿ.ӏжжӄ.ӆ.ӈ.ӊ.ӌ.ӎ..ааааӕ.ееә.әәжжззӡ.ииииооө.өөээууууууччӷ.ыыӻ.ӽ.ӿ."
    u"ԁ.ԃ.ԅ.ԇ.ԉ.ԋ.ԍ.ԏ.ԑ.ԓ.ԕ.ԗ.ԙ.ԛ.ԝ.ԟ.ԡ.ԣ.ԥ.ԧ.ԩ.ԫ.ԭ.ԯ.";

constexpr std::u16string_view more_latin_and_greek =
    u"aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmmmmmmnnnnnnnnoooooooopppprrrrrrrrssss"
    u"ssssssttttttttuuuuuuuuuuvvvvwwwwwwwwwwxxxxyyzzzzzzhtwy.ſ..ß.aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeeeeeeeeeee"
    u"iiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyyỻ.ỽ.ỿ.ααααααααααααααααεεεεεε..εεεεεε..ηηηηηηηηηηηη"
    u"ηηηηιιιιιιιιιιιιιιιιοοοοοο..οοοοοο..υυυυυυυυ.υ.υ.υ.υωωωωωωωωωωωωωωωωααεεηηιιοουυωω..αααααααααααααααα"
    u"ηηηηηηηηηηηηηηηηωωωωωωωωωωωωωωωωααααα.ααααααα.ι..¨ηηη.ηηεεηηη᾿᾿᾿ιιιι..ιιιιιι.῾῾῾υυυυρρυυυυυυρ¨¨`..ωω"
    u"ω.ωωοοωωω´..";

// Nonspacing marks (Mn) that accompany letters of the scripts above, Hebrew and Arabic.
constexpr Range accents[] = {
    {0x0300, 0x036f}, {0x0483, 0x0487}, {0x0591, 0x05bd}, {0x05bf, 0x05bf}, {0x05c1, 0x05c2}, {0x05c4, 0x05c5},
    {0x05c7, 0x05c7}, {0x0610, 0x061a}, {0x064b, 0x065f}, {0x0670, 0x0670}, {0x06d6, 0x06dc}, {0x06df, 0x06e4},
    {0x06e7, 0x06e8}, {0x06ea, 0x06ed}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20dc}, {0x20e1, 0x20e1},
    {0x20e5, 0x20f0}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
};

// Punctuation (categories P*) outside of ASCII.
constexpr Range punctuation[] = {
    {0x00a1, 0x00a1}, {0x00a7, 0x00a7}, {0x00ab, 0x00ab}, {0x00b6, 0x00b7}, {0x00bb, 0x00bb}, {0x00bf, 0x00bf},
    {0x037e, 0x037e}, {0x0387, 0x0387}, {0x055a, 0x055f}, {0x0589, 0x058a}, {0x05be, 0x05be}, {0x05c0, 0x05c0},
    {0x05c3, 0x05c3}, {0x05c6, 0x05c6}, {0x05f3, 0x05f4}, {0x0609, 0x060a}, {0x060c, 0x060d}, {0x061b, 0x061b},
    {0x061d, 0x061f}, {0x066a, 0x066d}, {0x06d4, 0x06d4}, {0x0700, 0x070d}, {0x07f7, 0x07f9}, {0x0830, 0x083e},
    {0x085e, 0x085e}, {0x0964, 0x0965}, {0x0970, 0x0970}, {0x09fd, 0x09fd}, {0x0a76, 0x0a76}, {0x0af0, 0x0af0},
    {0x0c77, 0x0c77}, {0x0c84, 0x0c84}, {0x0df4, 0x0df4}, {0x0e4f, 0x0e4f}, {0x0e5a, 0x0e5b}, {0x0f04, 0x0f12},
    {0x0f14, 0x0f14}, {0x0f3a, 0x0f3d}, {0x0f85, 0x0f85}, {0x0fd0, 0x0fd4}, {0x0fd9, 0x0fda}, {0x104a, 0x104f},
    {0x10fb, 0x10fb}, {0x1360, 0x1368}, {0x1400, 0x1400}, {0x166e, 0x166e}, {0x169b, 0x169c}, {0x16eb, 0x16ed},
    {0x1735, 0x1736}, {0x17d4, 0x17d6}, {0x17d8, 0x17da}, {0x1800, 0x180a}, {0x1944, 0x1945}, {0x1a1e, 0x1a1f},
    {0x1aa0, 0x1aa6}, {0x1aa8, 0x1aad}, {0x1b5a, 0x1b60}, {0x1b7d, 0x1b7e}, {0x1bfc, 0x1bff}, {0x1c3b, 0x1c3f},
    {0x1c7e, 0x1c7f}, {0x1cc0, 0x1cc7}, {0x1cd3, 0x1cd3}, {0x2010, 0x2027}, {0x2030, 0x2043}, {0x2045, 0x2051},
    {0x2053, 0x205e}, {0x207d, 0x207e}, {0x208d, 0x208e}, {0x2308, 0x230b}, {0x2329, 0x232a}, {0x2768, 0x2775},
    {0x27c5, 0x27c6}, {0x27e6, 0x27ef}, {0x2983, 0x2998}, {0x29d8, 0x29db}, {0x29fc, 0x29fd}, {0x2cf9, 0x2cfc},
    {0x2cfe, 0x2cff}, {0x2d70, 0x2d70}, {0x2e00, 0x2e2e}, {0x2e30, 0x2e4f}, {0x2e52, 0x2e5d}, {0x3001, 0x3003},
    {0x3008, 0x3011}, {0x3014, 0x301f}, {0x3030, 0x3030}, {0x303d, 0x303d}, {0x30a0, 0x30a0}, {0x30fb, 0x30fb},
    {0xa4fe, 0xa4ff}, {0xa60d, 0xa60f}, {0xa673, 0xa673}, {0xa67e, 0xa67e}, {0xa6f2, 0xa6f7}, {0xa874, 0xa877},
    {0xa8ce, 0xa8cf}, {0xa8f8, 0xa8fa}, {0xa8fc, 0xa8fc}, {0xa92e, 0xa92f}, {0xa95f, 0xa95f}, {0xa9c1, 0xa9cd},
    {0xa9de, 0xa9df}, {0xaa5c, 0xaa5f}, {0xaade, 0xaadf}, {0xaaf0, 0xaaf1}, {0xabeb, 0xabeb}, {0xfd3e, 0xfd3f},
    {0xfe10, 0xfe19}, {0xfe30, 0xfe61}, {0xfe63, 0xfe63}, {0xfe68, 0xfe68}, {0xfe6a, 0xfe6b}, {0xff01, 0xff03},
    {0xff05, 0xff0a}, {0xff0c, 0xff0f}, {0xff1a, 0xff1b}, {0xff1f, 0xff20}, {0xff3b, 0xff3d}, {0xff3f, 0xff3f},
    {0xff5b, 0xff5b}, {0xff5d, 0xff5d}, {0xff5f, 0xff65},
};

// Format characters (Cf).
constexpr Range formats[] = {
    {0x00ad, 0x00ad}, {0x0600, 0x0605}, {0x061c, 0x061c}, {0x06dd, 0x06dd}, {0x070f, 0x070f},
    {0x0890, 0x0891}, {0x08e2, 0x08e2}, {0x180e, 0x180e}, {0x200b, 0x200f}, {0x202a, 0x202e},
    {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb},
};

constexpr Range spaces[] = {{0xa0, 0xa0},     {0x1680, 0x1680}, {0x2000, 0x200a}, {0x2028, 0x2029},
                            {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}};

// The blocks of unified ideographs; Korean and Japanese letters are not among them.
constexpr Range ideographs[] = {{0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},   {0x20000, 0x2a6df},
                                {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b820, 0x2ceaf}, {0x2f800, 0x2fa1f}};

template <size_t count>
bool contains(const Range (&table)[count], char32_t character) {
  const Range* after = std::upper_bound(std::begin(table), std::end(table), character,
                                        [](char32_t value, const Range& range) { return value < range.first; });
  return after != std::begin(table) && character <= std::prev(after)->last;
}

char32_t plain_in(std::u16string_view block, char32_t first, char32_t character) {
  if (character < first || character - first >= block.size()) return character;
  const char16_t plain = block[character - first];
  return plain == u'.' ? character : plain;
}

char32_t plain_letter(char32_t character) {
  if (character < 0x370) return plain_in(latin, 0xc0, character);
  if (character < 0x1e00) return plain_in(greek_and_cyrillic, 0x370, character);
  return plain_in(more_latin_and_greek, 0x1e00, character);
}

Letter classify_ascii(char32_t character) {
  if (character >= 'a' && character <= 'z') return {LetterKind::word, character};
  if (character >= 'A' && character <= 'Z') return {LetterKind::word, character + ('a' - 'A')};
  if (character >= '0' && character <= '9') return {LetterKind::word, character};
  if (character == ' ' || character == '\t' || character == '\n' || character == '\r') return {LetterKind::space, ' '};
  return {character < 0x20 || character == 0x7f ? LetterKind::nothing : LetterKind::mark, character};
}

}  // namespace

Letter classify_letter(char32_t character) {
  if (character < 0x80) return classify_ascii(character);
  if (character < 0xa0 || character == 0xfffd || contains(formats, character)) return {LetterKind::nothing, character};
  if (contains(spaces, character)) return {LetterKind::space, ' '};
  if (contains(ideographs, character)) return {LetterKind::mark, character};
  if (contains(accents, character)) return {LetterKind::nothing, character};
  const char32_t plain = plain_letter(character);
  const bool is_mark = plain < 0x80 ? classify_ascii(plain).kind == LetterKind::mark : contains(punctuation, plain);
  return {is_mark ? LetterKind::mark : LetterKind::word, plain};
}

}  // namespace gpusizer
