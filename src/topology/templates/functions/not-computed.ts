import { NotKnown } from '../../world/not-known.ts';
import type { TemplateFunction } from '../values/values.ts';
import { define, type Functions, type Parameter } from './define.ts';

/** A function that is not computed, and why. Its arguments are checked as all others. */
export function notComputed(name: string, parameters: readonly Parameter[], why: string): TemplateFunction {
  return define(parameters, () => {
    throw new NotKnown(`the template calls ${name}, which ${why} and is not computed`, {
      remedy: 'compute the value outside and pass it as a variable',
    });
  });
}

/** Those of sprig, by why they are not computed. */
const groups: Readonly<Record<string, Readonly<Record<string, readonly Parameter[]>>>> = {
  'makes a key, a certificate or a hash that differs each time': {
    bcrypt: ['string'],
    encryptAES: ['string', 'string'],
    genCA: ['string', 'int'],
    genCAWithKey: ['string', 'int', 'string'],
    genPrivateKey: ['string'],
    genSelfSignedCert: ['string', 'list', 'list', 'int'],
    genSelfSignedCertWithKey: ['string', 'list', 'list', 'int', 'string'],
    genSignedCert: ['string', 'list', 'list', 'int', 'any'],
    genSignedCertWithKey: ['string', 'list', 'list', 'int', 'any', 'string'],
    htpasswd: ['string', 'string'],
  },
  'works with secrets': {
    buildCustomCert: ['string', 'string'],
    decryptAES: ['string', 'string'],
    derivePassword: ['any', 'string', 'string', 'string', 'string'],
  },
  'changes a text in a way that names and fields rarely need': {
    nospace: ['string'],
    swapcase: ['string'],
    title: ['string'],
  },
  'works with times': {
    ago: ['any'],
    duration: ['any'],
    durationRound: ['any'],
    must_date_modify: ['string', 'any'],
    mustDateModify: ['string', 'any'],
    mustToDate: ['string', 'string'],
    toDate: ['string', 'string'],
    unixEpoch: ['any'],
  },
};

export const notComputedFunctions: Functions = Object.fromEntries(
  Object.entries(groups).flatMap(([why, functions]) =>
    Object.entries(functions).map(([name, parameters]) => [name, notComputed(name, parameters, why)]),
  ),
);
