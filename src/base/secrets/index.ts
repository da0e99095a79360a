export { followed } from './followed.ts';
export { looksSecret } from './names.ts';
export { notShown, secretShapes, withoutSecrets } from './shapes.ts';
