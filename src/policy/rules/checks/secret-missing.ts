import { injectCaFromSecretAnnotation } from '../../../extensionconfig/index.ts';
import { exampleSecret } from '../examples/cluster.ts';
import { example } from '../examples/manifest.ts';
import { namedSecret, secretAnnotationPath } from '../fields/secret.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'secret-missing',
  summary: 'The Secret that the annotation names exists, and has a CA in ca.crt.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  about: 'facts',
  check({ object, facts }, report) {
    const secret = namedSecret(object, facts);
    if (secret?.found === undefined) {
      return;
    }
    const { namespace, name, key, found } = secret;
    const problem = found === 'absent' ? 'does not exist' : found.problem;
    if (problem !== undefined) {
      report({
        path: secretAnnotationPath,
        reason: found === 'absent' ? 'FieldValueNotFound' : 'FieldValueInvalid',
        value: key,
        message: `this Secret ${problem}; Cluster API will not report this: look with kubectl -n ${namespace} describe secret ${name}`,
      });
    }
  },
  example: {
    context: [exampleSecret(), exampleSecret({ 'tls.crt': '' }, 'without-ca')],
    bad: example({ annotations: { [injectCaFromSecretAnnotation]: 'capi-extensions/without-ca' } }),
    good: example(),
  },
};
