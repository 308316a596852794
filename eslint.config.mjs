import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', '.stryker-tmp/**'] },
  ...tseslint.configs.strict,
  {
    rules: {
      eqeqeq: ['error', 'always'],
      'no-console': 'error',
      'no-empty': 'error',
      'prefer-const': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/no-dynamic-delete': 'off',
    },
  },
  {
    // A text from elsewhere must never make a pattern take more than linear time.
    files: ['src/**', 'templates/**', 'scripts/**'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
    },
  },
  {
    // The pages are modules of a browser; their types are checked with tsconfig.pages.json.
    files: ['templates/dashboard/**'],
    rules: { 'no-console': ['error', { allow: ['error'] }] },
  },
  {
    // Plain CommonJS, run as it is.
    files: ['bin/**'],
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
  {
    files: ['test/**', 'bench/**', 'scripts/**'],
    rules: {
      'no-console': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unused-expressions': 'off',
    },
  },
);
