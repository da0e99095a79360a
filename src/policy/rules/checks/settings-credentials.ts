import { example } from '../examples/manifest.ts';
import type { Rule } from '../rule.ts';

/** Words in a key that indicate a credential. Whole words, so that `tokenBucketSize` or `secretName` are not reported. */
const credentialKey =
  /(^|[^a-z])(password|passwd|passphrase|pwd|secret|token|api[-_.]?key|access[-_.]?key|private[-_.]?key|client[-_.]?secret|credentials?|bearer)$/;
/** Values that are credentials under any key: PEM keys, JWTs, AWS and GitHub keys, URLs with a password. */
const credentialValue =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----|^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]*$|\b(AKIA|ASIA)[A-Z0-9]{16}\b|\bgh[pousr]_\w{36}|^[a-z][a-z0-9+.-]*:\/\/[^/?#\s:@]+:[^/?#\s@]+@/;

/** How many characters at the end of a key are examined: more than the longest word above with its separators. */
const maxKeyEnd = 64;

/** Matches every key that `credentialKey` does, and is cheaper: most keys do not match. */
const suspiciousKey = /pass|pwd|secret|token|key|credential|bearer/i;

/** Splits `apiKey` and `API_KEY` alike into words: `api-key`. */
function words(key: string): string {
  return key.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
}

export const rule: Rule = {
  id: 'settings-credentials',
  summary: 'No setting looks like a credential: settings are stored in clear text and sent with every call.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  about: 'settings',
  check({ object }, report) {
    const settings = object.spec?.settings ?? {};
    for (const key of Object.keys(settings)) {
      const value = settings[key];
      const end = key.slice(-maxKeyEnd);
      if (value && ((suspiciousKey.test(end) && credentialKey.test(words(end))) || credentialValue.test(value))) {
        report({
          path: ['spec', 'settings', key],
          reason: 'FieldValueForbidden',
          message:
            'looks like a credential, but settings are stored in clear text and sent with every call; keep it in a Secret that the extension server mounts',
        });
      }
    }
  },
  example: {
    bad: example({ spec: { settings: { apiToken: 'c2VjcmV0' } } }),
    good: example({ spec: { settings: { apiTokenSecretName: 'my-extension-token' } } }),
  },
};
