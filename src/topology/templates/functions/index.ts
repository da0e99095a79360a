import { NotKnown } from '../../world/not-known.ts';
import type { TemplateFunction } from '../values/values.ts';
import { builtins } from './builtins.ts';
import { collectionFunctions } from './collections.ts';
import { define, type Functions, type Parameter } from './define.ts';
import { encodingFunctions } from './encodings.ts';
import { jsonFunctions, valueOfJson } from './json.ts';
import { numberFunctions } from './numbers.ts';
import { pathFunctions } from './paths.ts';
import { patternFunctions } from './patterns.ts';
import { stringFunctions } from './strings.ts';
import { versionFunctions } from './versions.ts';

export { builtins, valueOfJson };

/** Functions that are not computed, by why; their arguments are checked as those of others. */
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
  'escapes a text for JavaScript': { js: ['...any'] },
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

const notComputed: Functions = Object.fromEntries(
  Object.entries(groups).flatMap(([why, functions]) =>
    Object.entries(functions).map(([name, parameters]) => [
      name,
      define(parameters, () => {
        throw new NotKnown(`the template calls ${name}, which ${why} and is not computed`, {
          remedy: 'compute the value outside and pass it as a variable',
        });
      }),
    ]),
  ),
);

/** All functions that Cluster API's templates may call: those of text/template and the hermetic ones of sprig. */
export const functions: ReadonlyMap<string, TemplateFunction> = new Map(
  Object.entries({
    ...builtins,
    ...stringFunctions,
    ...collectionFunctions,
    ...numberFunctions,
    ...jsonFunctions,
    ...patternFunctions,
    ...versionFunctions,
    ...pathFunctions,
    ...encodingFunctions,
    ...notComputed,
  }),
);
