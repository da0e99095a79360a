export { readCaBundle, secretNameOf } from './ca-secret.ts';
export { pollSecrets } from './secret-poll.ts';
