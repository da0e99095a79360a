import { expect, test } from 'vitest';
import { renderValueTemplate } from '../../../src/topology/index.ts';

const many = 'more than 100000 steps';
const large = 'more than 1048576 bytes';

test.each([
  ['a list without end', '{{ until 1000000000 }}', many],
  ['a range without end', '{{ range 1000000000 }}{{ end }}', many],
  ['ranges in ranges', '{{ range 10000 }}{{ range 10000 }}{{ end }}{{ end }}', many],
  ['recursion', '{{ define "r" }}{{ template "r" }}{{ end }}{{ template "r" }}', 'more than 100 levels deep'],
  ['a repeated text', '{{ repeat 1000000000 "x" }}', large],
  ['a wide number', '{{ printf "%*d%*d" 1000000 1 1000000 1 }}', large],
  ['lists that double', '{{ $l := list 1 }}{{ range 60 }}{{ $l = concat $l $l }}{{ end }}', many],
  ['texts that double', '{{ $s := "x" }}{{ range 60 }}{{ $s = print $s $s }}{{ end }}', many],
  ['maps that share', '{{ $d := dict }}{{ range 40 }}{{ $d = dict "a" $d "b" $d }}{{ end }}{{ toJson $d }}', many],
  ['a map in itself', '{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ deepCopy $d }}', 'deeper than 1000 levels'],
  ['parentheses', `{{ ${'('.repeat(500)}1${')'.repeat(500)} }}`, 'deeper than 100 levels'],
  ['reading a large text often', '{{ $s := repeat 1000000 "x" }}{{ range 9000 }}{{ contains "y" $s }}{{ end }}', many],
  ['a large pattern', '{{ mustRegexMatch "((a{1,100}){1,100}){1,100}" "a" }}', 'expression too large'],
])('%s is refused', (_name, template, message) => {
  expect(() => renderValueTemplate(template, {})).toThrow(message);
});
