/** How many characters at the end of a name are looked at. */
const maxEnd = 64;

/** What names of secrets end with, whatever is before it: `dbpassword`. */
const ends =
  /(?:password|passwd|passphrase|pwd|secret|token|credential|dockercfg|dockerconfigjson|(?:api|access|private|secret|ssh|tls|encryption|license|client|auth)key)s?$/;
/** The same, as words of their own: `compass` is not secret. */
const words = new Set(['pass', 'pw', 'auth', 'cred', 'creds', 'bearer', 'jwt', 'psk', 'kubeconfig']);
/** Keys that are not secret, by the word before: `topologyKey`. */
const publicKeys = new Set(
  'annotation authorized config foreign group label map node object partition primary public sort taint topology'.split(
    ' ',
  ),
);
/** What may come after the name of a secret: `client-key-data`, `passwordHash`. */
const forms = new Set('b64 base64 data encoded hash hashed pem plain string text value'.split(' '));

/** Whether a name says that its value is a secret, in any spelling (`dbPassword`, `DB_PASSWORD`); not `tokenSecretRef`. */
export function looksSecret(name: string): boolean {
  const parts = name
    .slice(-maxEnd)
    .replaceAll(/([a-z0-9])(?=[A-Z])/g, '$1 ')
    .replaceAll(/([A-Z])(?=[A-Z][a-z])/g, '$1 ')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((part) => (forms.has(part) ? part : part.replace(/\d{1,4}$/, '')))
    .filter((part) => part !== '');
  while (parts.length > 1 && forms.has(parts.at(-1) ?? '')) {
    parts.pop();
  }
  const [last = '', before = ''] = parts.toReversed();
  return ends.test(last) || words.has(last) || (/^keys?$/.test(last) && before !== '' && !publicKeys.has(before));
}
