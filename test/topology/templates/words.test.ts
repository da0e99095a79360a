import { expect, test } from 'vitest';
import { renderValueTemplate } from '../../../src/topology/templates/index.ts';

const rendered = (text: string) => renderValueTemplate('{{ .text }}', { text });

const words = [
  ...[
    'true',
    'No',
    'on',
    'y',
    'null',
    'Null',
    'NaN',
    'inf',
    '0',
    '012',
    '0x1F',
    '0b11',
    '0o7',
    '09',
    '1_000',
    '1.',
    '1e3',
  ],
  ...[
    '1e999',
    '9223372036854775807',
    '18446744073709551616',
    '2001-01-01',
    'v1.34.0',
    '1.2.3',
    'a/b',
    'a - b',
    'no 1',
    'a ',
  ],
];

// A comment takes the way of all other texts.
test.each([
  ...words.flatMap((word) => [word, `${word}\n`, `- ${word}\n`, `- a\n- ${word}`]),
  ...['', '\n', '- ', '-', '- - a', '- a\nb', 'a\nb', 'a\n- b', '- a\n\n- b', '- --- a', '- a\n---\n- b'],
])('words are read as in other texts: %j', (text) => {
  const read = (all: string) => {
    try {
      return rendered(all);
    } catch (error) {
      return (error as Error).constructor.name;
    }
  };
  expect(read(text)).toEqual(read(`${text}${text.endsWith('\n') ? '' : '\n'}# a comment`));
});

test('a value that was read is not the one that is read again', () => {
  const text = '- path: /etc/size';
  const first = rendered(text) as unknown[];
  first.push('changed');
  expect(rendered(text)).toEqual([{ path: '/etc/size' }]);
});
