import { expect, test } from 'vitest';
import { paragraph } from '../../../src/base/index.ts';

const word = (length: number) => 'x'.repeat(length);

test.each<[name: string, start: string, text: string, margin: string, lines: string[]]>([
  ['a short text', '- ', 'one two', '  ', ['- one two']],
  ['no text', '- ', '', '  ', ['-']],
  ['80 columns', '- ', `${word(38)} ${word(39)}`, '  ', [`- ${word(38)} ${word(39)}`]],
  ['81 columns', '- ', `${word(38)} ${word(40)}`, '  ', [`- ${word(38)}`, `  ${word(40)}`]],
  ['several lines', 'note: ', `${word(60)} ${word(60)} end`, '    ', [`note: ${word(60)}`, `    ${word(60)} end`]],
  ['a word of 90 columns', '', `${word(90)} after`, '  ', [word(90), '  after']],
  ['a first word of 90 columns', '- ', word(90), '  ', [`- ${word(90)}`]],
  ['a word of 90 columns behind others', '', `one ${word(90)} after`, '  ', ['one', `  ${word(90)}`, '  after']],
  ['control characters', '', 'a\u001b[31mb', '', [String.raw`a\u001b[31mb`]],
])('%s', (_, start, text, margin, lines) => {
  expect(paragraph(start, text, margin)).toEqual(lines);
});
