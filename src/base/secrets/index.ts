export { followed } from './followed.ts';
export { looksSecret, notShown, secretShapes, withoutSecrets } from './recognized.ts';
