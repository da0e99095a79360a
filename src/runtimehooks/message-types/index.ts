export type * from './message-types.generated.ts';
