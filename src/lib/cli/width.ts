export * from '../platform/terminal/text-width';
