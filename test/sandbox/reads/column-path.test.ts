import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import { tableOf } from '../../../src/sandbox/reads/tables.ts';
import type { Resource } from '../../../src/sandbox/resources/resource.ts';

/** The cell that a column with this path has for an object. */
function cellOf(path: string, object: JsonObject): unknown {
  const column = { name: 'A', type: 'string', description: '', priority: 0, value: path };
  const table = tableOf(
    { columns: [column] } as unknown as Resource,
    [object],
    {},
    { include: 'None', now: 0, columns: false },
  );
  return (table.rows as { cells: unknown[] }[])[0]?.cells[1];
}

const object: JsonObject = {
  '..': 'two dots',
  'x,y': 'comma',
  '0:1': 'colon',
  "q'r": 'quote',
  '(1)': 'parentheses',
  metadata: { labels: { 'a.b/c': 'label', 'a-b': 'dash' } },
  list: [
    { name: 'one', at: { zone: 'x' }, size: 1 },
    { name: 'two', at: { zone: 'y' }, size: 2, last: true, 'a-b': 'd' },
  ],
};

test.each([
  ['.metadata.labels.a-b', 'dash'],
  ['metadata.labels.a-b', 'dash'],
  ['.metadata.labels.a\\.b/c', 'label'],
  [".metadata.labels['a\\.b/c']", 'label'],
  ['.metadata.labels["a-b"]', 'dash'],
  ['.metadata.labels.*', 'label'],
  ['.list[0].name', 'one'],
  ['.list[-1:].name', 'two'],
  ['.list[-1].name', 'two'],
  ['.list[:1].name', 'one'],
  ['.list[*].name', 'one'],
  ['.list[?(@.name=="two")].size', '2'],
  [".list[?( @.at.zone != 'x' )].name", 'two'],
  ['.list[?(@.size>1)].name', 'two'],
  ['.list[?(@.last==true)].name', 'two'],
  ['.list[?(@.last)].name', 'two'],
  ['.list[?(@.a-b=="d")].name', 'two'],
  ["['list'][0]['name']", 'one'],
  ["['..']", 'two dots'],
  ["['x,y']", 'comma'],
  ["['0:1']", 'colon'],
  ['["q\'r"]', 'quote'],
  ["['(1)']", 'parentheses'],
  ['.list[?(@.none!="x")].name', null],
  ['.list[?(@.size=="1")].name', null],
  ['.list[?(@.size<=1)].name', 'one'],
  ['.list[?(@.size>=2)].name', 'two'],
  ['.list[?(@.size<2)].name', 'one'],
  ['.toString', null],
  ['.none', null],
])('%s is %s', (path, cell) => {
  expect(cellOf(path, object)).toBe(cell);
});

let nested: Json = 1;
for (let depth = 0; depth < 40; depth++) {
  nested = [nested];
}
let deep: JsonObject = { text: `${'a'.repeat(25)}!`, nested };
for (let depth = 0; depth < 60; depth++) {
  deep = { a: deep };
}

// Several took seconds once, or with a few more characters or levels hours.
test.each([
  ['a descent', '..text'],
  ['several indices', '.a[0,1]'],
  ['a regular expression that backtracks', '..[?(@.match(/(a+)+$/))]'],
  ['a regular expression in a text', "..a[?(@.match('(a+)+$'))]"],
  ['a regular expression in a name', `..['(@.text.match("(a+)+$"))']`],
  ['a descent in a name', "['..']..a['..']..a['..']..a['..']..a['..']..a.text.none"],
  ['the same item many times', `..nested${'[0,0,0,0,0,0,0,0,0,0]'.repeat(39)}.none`],
  ['a function', '.a[?(@.toString())]'],
  ['a calculation', '.a[?(@.size*2>3)]'],
  ['a script', '.a[(@.length-1)]'],
  ['a parent', '.a.^'],
  ['too many steps', `.a${'[*]'.repeat(2_000)}`],
  ['what is not a path', '['.repeat(1_000)],
])('%s makes an empty column', (_, path) => {
  expect(cellOf(path, deep)).toBeNull();
});
