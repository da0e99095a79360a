import { describe, expect, test } from 'vitest';
import { parseFeatureGates } from '../../../src/webhook/index.ts';

const known = { RuntimeSDK: false, Other: true };

describe('parseFeatureGates', () => {
  test.each([
    ['', { RuntimeSDK: false, Other: true }],
    ['RuntimeSDK=true', { RuntimeSDK: true, Other: true }],
    ['RuntimeSDK=true,Other=false', { RuntimeSDK: true, Other: false }],
    [' RuntimeSDK = T , Other=0,', { RuntimeSDK: true, Other: false }],
    ['RuntimeSDK=true, , ', { RuntimeSDK: true, Other: true }],
    ['RuntimeSDK=true,RuntimeSDK=false', { RuntimeSDK: false, Other: true }],
  ])('reads %j', (text, gates) => {
    expect(parseFeatureGates(text, known)).toEqual({ gates });
  });

  test.each([
    ['runtimesdk=true', /unknown feature gate "runtimesdk"; known: RuntimeSDK, Other/],
    ['ClusterTopology=true', /unknown feature gate "ClusterTopology"/],
    ['__proto__=true', /unknown/],
    ['constructor=true', /unknown/],
    ['=true', /unknown feature gate ""/],
    ['RuntimeSDK', /RuntimeSDK=true or RuntimeSDK=false/],
    ['RuntimeSDK=', /needs a value/],
    ['RuntimeSDK=yes', /needs a value/],
    ['RuntimeSDK=true=true', /needs a value/],
  ])('rejects %j', (text, message) => {
    expect((parseFeatureGates(text, known) as { problem: string }).problem).toMatch(message);
  });

  test('rejects a gate without a value, whatever its name', () => {
    expect(parseFeatureGates('True', { True: false })).toEqual({
      problem: 'feature gate True needs a value: True=true or True=false',
    });
  });
});
