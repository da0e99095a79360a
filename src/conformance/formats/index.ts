export { conductAsJunit } from './junit.ts';
export { conductAsText } from './text.ts';
