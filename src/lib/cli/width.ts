export * from '../platform/text-width';
